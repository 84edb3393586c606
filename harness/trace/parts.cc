#include "trace/parts.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "trace/event_start.h"

namespace bk::trace {
namespace {

/// More would have to leave the caches of the processor that inflates it before it is parsed.
constexpr std::size_t kPartBytes = std::size_t{640} * 1024;
constexpr std::size_t kLongestPart = 16 * kPartBytes;

/// Blocks in their order, then a source, then its error.
class RestSource final : public ByteSource {
 public:
  RestSource(std::vector<Block> blocks, std::unique_ptr<ByteSource> source, Status failed)
      : blocks_(std::move(blocks)), source_(std::move(source)), failed_(std::move(failed)) {}

  Result<std::size_t> read(char* into, std::size_t size) override {
    while (at_ < blocks_.size() && blocks_[at_].size == 0) ++at_;
    if (at_ == blocks_.size()) {
      BK_TRY(failed_);
      return source_->read(into, size);
    }
    Block& block = blocks_[at_];
    const std::size_t n = std::min(size, block.size);
    std::memcpy(into, block.bytes().data(), n);
    block.begin += n;
    block.size -= n;
    return n;
  }

 private:
  std::vector<Block> blocks_;
  std::size_t at_ = 0;
  std::unique_ptr<ByteSource> source_;
  Status failed_;
};

}  // namespace

bool Parts::next(Block& block) {
  block.begin = 0;
  block.size = carried_.size();
  for (std::size_t limit = kPartBytes; !ended_; limit *= 2) {
    if (block.memory.size() < limit + Block::kRoomAfter) block.memory.resize(limit + Block::kRoomAfter);
    std::copy(carried_.begin(), carried_.end(), block.memory.begin());
    carried_.clear();
    while (block.size < limit) {
      const auto n = source_->read(block.memory.data() + block.size, limit - block.size);
      if (!n) failed_ = fail(n.error());
      ended_ = !n || *n == 0;
      if (ended_) break;
      block.size += *n;
    }
    const std::string_view bytes = block.bytes();
    const std::size_t cut = ended_ ? 0 : last_event_start(bytes);
    ended_ = ended_ || (cut == 0 && limit >= kLongestPart);
    if (cut == 0 && !ended_) continue;
    carried_.assign(bytes.begin() + static_cast<std::ptrdiff_t>(cut), bytes.end());
    if (cut == 0) return false;
    block.size = cut;
    block.blank_room();
    offset_ += cut;
    return true;
  }
  return false;
}

std::unique_ptr<ByteSource> Parts::rest(std::vector<Block> given) {
  Block& last = given.emplace_back();
  last.size = carried_.size();
  last.memory = std::move(carried_);
  return std::make_unique<RestSource>(std::move(given), std::move(source_), std::move(failed_));
}

}  // namespace bk::trace
