#include "trace/token_index.h"

#include <simdjson.h>

#include <algorithm>

#include "base/check.h"

namespace bk::trace {

struct TokenIndex::State {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
  const std::uint32_t nothing[1] = {0};
};

TokenIndex::TokenIndex() : state_(std::make_unique<State>()) {}
TokenIndex::~TokenIndex() = default;

TokenIndex::Fault TokenIndex::index(const char* bytes, std::size_t size) {
  static_assert(kPadding >= simdjson::SIMDJSON_PADDING);
  count_ = 0;
  constexpr std::size_t kDepth = 1;  // of the second stage, which is not used
  if (!state_->parser || state_->parser->capacity() < size) {
    const std::size_t capacity = std::max<std::size_t>(size, 64);
    state_->parser.reset();
    const auto code =
        simdjson::get_active_implementation()->create_dom_parser_implementation(capacity, kDepth, state_->parser);
    BK_CHECK(code == simdjson::SUCCESS);
  }
  const auto code =
      state_->parser->stage1(reinterpret_cast<const std::uint8_t*>(bytes), size, simdjson::stage1_mode::regular);
  if (code == simdjson::EMPTY) return Fault::kNone;
  if (code == simdjson::UNCLOSED_STRING) return Fault::kUnclosedString;
  if (code != simdjson::SUCCESS) return Fault::kBadBytes;
  count_ = state_->parser->n_structural_indexes;
  return Fault::kNone;
}

const std::uint32_t* TokenIndex::begin() const {
  return count_ == 0 ? state_->nothing : state_->parser->structural_indexes.get();
}
std::size_t TokenIndex::count() const { return count_; }

}  // namespace bk::trace
