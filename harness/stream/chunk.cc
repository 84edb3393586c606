#include "stream/chunk.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/json.h"
#include "base/text.h"

namespace bk::stream {
namespace {

namespace od = simdjson::ondemand;
using simdjson::error_code;

static_assert(simdjson::SIMDJSON_PADDING <= 64, "ChunkReader::read promises 64 bytes of padding");

constexpr std::size_t kMinCapacity = 4096;

/// One choice while its members are read, in whatever order they come.
struct Choice {
  std::string_view content, reasoning, reasoning_content, finish_reason;
  std::int64_t index = 0;
  std::int32_t token_ids = -1;
  bool has_tool_text = false;
};

// Compares a member's name, as it stands in the text (escapes not undone), with a literal. The text is padded.
template <std::size_t N>
bool is(const char* raw, const char (&name)[N]) {
  return std::memcmp(raw, name, N - 1) == 0 && raw[N - 1] == '"';
}

// Calls visit(name, value) for every member; what visit leaves unread is skipped.
template <class Visit>
error_code each_member(od::object object, Visit&& visit) {
  for (auto item : object) {
    od::field field;
    if (const error_code error = std::move(item).get(field)) return error;
    if (const error_code error = visit(field.key().raw(), field.value())) return error;
  }
  return simdjson::SUCCESS;
}

// As each_member; a value of another type (null above all) has no members. Broken text is an error.
template <class Visit>
error_code each_member_if_object(od::value value, Visit&& visit) {
  od::object object;
  const error_code error = value.get_object().get(object);
  if (error == simdjson::INCORRECT_TYPE) return simdjson::SUCCESS;
  return error ? error : each_member(object, visit);
}

template <class Visit>
error_code each_element_if_array(od::value value, Visit&& visit) {
  od::array array;
  const error_code error = value.get_array().get(array);
  if (error == simdjson::INCORRECT_TYPE) return simdjson::SUCCESS;
  if (error) return error;
  for (auto item : array) {
    od::value element;
    // get() takes rvalues only.
    // NOLINTNEXTLINE(performance-move-const-arg)
    if (const error_code failed = std::move(item).get(element)) return failed;
    if (const error_code failed = visit(element)) return failed;
  }
  return simdjson::SUCCESS;
}

// Strings are taken, other types left as they are. A string without escapes is a view of the text itself.
error_code take_string(od::value value, std::string_view& out) {
  std::string_view token = value.raw_json_token();
  if (token.empty() || token.front() != '"') return simdjson::SUCCESS;
  if (token.find('\\') != std::string_view::npos) return value.get_string().get(out);
  while (token.back() != '"') token.remove_suffix(1);
  out = token.substr(1, token.size() - 2);
  return simdjson::SUCCESS;
}

// Whole numbers from 0 on, also when written as 12.0; anything else counts as missing.
void take_count(od::value value, std::optional<std::int64_t>& out) {
  std::int64_t whole = 0;
  double real = 0;
  if (!value.get_int64().get(whole)) {
    if (whole >= 0) out = whole;
  } else if (!value.get_double().get(real) && real >= 0 && real < 9e15 &&
             real == static_cast<double>(static_cast<std::int64_t>(real))) {
    out = static_cast<std::int64_t>(real);
  }
}

void take_number(od::value value, std::optional<double>& out) {
  double real = 0;
  if (!value.get_double().get(real)) out = real;
}

error_code read_usage(od::value value, std::optional<Usage>& out) {
  od::object object;
  const error_code error = value.get_object().get(object);
  if (error) return error == simdjson::INCORRECT_TYPE ? simdjson::SUCCESS : error;
  Usage& usage = out.emplace();
  return each_member(object, [&usage](const char* name, od::value member) {
    if (is(name, "prompt_tokens")) {
      take_count(member, usage.prompt_tokens);
    } else if (is(name, "completion_tokens")) {
      take_count(member, usage.completion_tokens);
    } else if (is(name, "prompt_cache_hit_tokens")) {
      if (!usage.cached_tokens) take_count(member, usage.cached_tokens);
    } else if (is(name, "prompt_tokens_details")) {
      return each_member_if_object(member, [&usage](const char* detail, od::value count) {
        if (is(detail, "cached_tokens")) take_count(count, usage.cached_tokens);
        return simdjson::SUCCESS;
      });
    } else if (is(name, "completion_tokens_details")) {
      return each_member_if_object(member, [&usage](const char* detail, od::value count) {
        if (is(detail, "reasoning_tokens")) take_count(count, usage.reasoning_tokens);
        return simdjson::SUCCESS;
      });
    }
    return simdjson::SUCCESS;
  });
}

error_code read_timings(od::value value, std::optional<ServerTimings>& out) {
  od::object object;
  const error_code error = value.get_object().get(object);
  if (error) return error == simdjson::INCORRECT_TYPE ? simdjson::SUCCESS : error;
  ServerTimings& timings = out.emplace();
  return each_member(object, [&timings](const char* name, od::value member) {
    if (is(name, "prompt_ms")) take_number(member, timings.prompt_ms);
    if (is(name, "predicted_ms")) take_number(member, timings.predicted_ms);
    if (is(name, "prompt_n")) take_count(member, timings.prompt_n);
    if (is(name, "predicted_n")) take_count(member, timings.predicted_n);
    if (is(name, "cache_n")) take_count(member, timings.cache_n);
    if (is(name, "draft_n")) take_count(member, timings.draft_n);
    if (is(name, "draft_n_accepted")) take_count(member, timings.draft_n_accepted);
    return simdjson::SUCCESS;
  });
}

// An `error` member says something unless it is null, false or "".
error_code says_something(od::value value, bool& out) {
  std::string_view text;
  bool flag = false;
  if (!value.get_string().get(text)) {
    out |= !text.empty();
  } else if (!value.get_bool().get(flag)) {
    out |= flag;
  } else {
    if (const error_code error = value.is_null().get(flag)) return error;
    out |= !flag;
  }
  return simdjson::SUCCESS;
}

}  // namespace

struct ChunkReader::Impl {
  od::parser parser;
  std::vector<char> padded;
  std::string tools;    ///< tool-call text of the event at hand
  std::string joined;   ///< both reasonings, where they differ
  std::string message;  ///< what Chunk::error shows
  Chunk chunk;
  bool reports_error = false, has_choices = false, has_plain_message = false;

  error_code read_document(std::string_view data, std::size_t readable_after);
  error_code read_root_member(const char* name, od::value value);
  error_code read_choice(od::value value);
  error_code read_choice_member(const char* name, od::value value, Choice& choice);
  error_code read_delta_member(const char* name, od::value value, Choice& choice);
  error_code read_function(od::value value, Choice& choice);
  void apply(const Choice& choice);
};

error_code ChunkReader::Impl::read_document(std::string_view data, std::size_t readable_after) {
  if (data.size() > parser.capacity()) {
    if (const error_code error = parser.allocate(std::max(kMinCapacity, data.size() * 2))) return error;
  }
  const char* text = data.data();
  if (readable_after < simdjson::SIMDJSON_PADDING) {
    if (padded.size() < data.size() + simdjson::SIMDJSON_PADDING) {
      padded.resize(std::max(kMinCapacity, data.size() * 2) + simdjson::SIMDJSON_PADDING);
    }
    std::memcpy(padded.data(), data.data(), data.size());
    padded[data.size()] = '\n';  // what follows broken text must not decide how it is judged
    text = padded.data();
  }
  od::document document;
  error_code error = parser.iterate(text, data.size(), data.size() + simdjson::SIMDJSON_PADDING).get(document);
  if (error) return error;
  od::object root;
  if ((error = document.get_object().get(root))) return error;
  error = each_member(root, [this](const char* name, od::value value) { return read_root_member(name, value); });
  if (error) return error;
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS ? simdjson::SUCCESS
                                                                        : simdjson::TRAILING_CONTENT;
}

error_code ChunkReader::Impl::read_root_member(const char* name, od::value value) {
  switch (name[0]) {
    case 'c':
      if (!is(name, "choices")) break;
      has_choices = true;
      return each_element_if_array(value, [this](od::value choice) { return read_choice(choice); });
    case 'u':
      if (is(name, "usage")) return read_usage(value, chunk.usage);
      break;
    case 't':
      if (is(name, "timings")) return read_timings(value, chunk.timings);
      break;
    case 'e':
      if (is(name, "error")) return says_something(value, reports_error);
      break;
    case 'o':
      if (is(name, "object")) reports_error |= value.raw_json_token().substr(0, 7) == "\"error\"";
      break;
    case 'm': {
      if (is(name, "model")) return take_string(value, chunk.model);
      std::string_view text;
      if (!is(name, "message")) break;
      const error_code error = take_string(value, text);
      has_plain_message |= !text.empty();
      return error;
    }
    case 'd':
      if (is(name, "detail")) return says_something(value, has_plain_message);
      break;
    default:
      break;
  }
  return simdjson::SUCCESS;
}

error_code ChunkReader::Impl::read_choice(od::value value) {
  Choice choice;
  const error_code error = each_member_if_object(value, [&](const char* name, od::value member) {
    chunk.has_choice = true;
    return read_choice_member(name, member, choice);
  });
  if (!error) apply(choice);
  return error;
}

error_code ChunkReader::Impl::read_choice_member(const char* name, od::value value, Choice& choice) {
  switch (name[0]) {
    case 'd':
    case 'm':
      if (!is(name, "delta") && !is(name, "message")) break;
      return each_member_if_object(
          value, [&](const char* member, od::value inner) { return read_delta_member(member, inner, choice); });
    case 't':
      if (is(name, "text")) return take_string(value, choice.content);
      if (!is(name, "token_ids")) break;
      return each_element_if_array(value, [&, count = 0](od::value) mutable {
        choice.token_ids = ++count;
        return simdjson::SUCCESS;
      });
    case 'i':
      if (is(name, "index")) {
        std::int64_t index = 0;
        if (!value.get_int64().get(index)) choice.index = index;
      }
      break;
    case 'f':
      if (is(name, "finish_reason")) return take_string(value, choice.finish_reason);
      break;
    case 'u':
      if (is(name, "usage") && !chunk.usage) return read_usage(value, chunk.usage);
      break;
    default:
      break;
  }
  return simdjson::SUCCESS;
}

error_code ChunkReader::Impl::read_delta_member(const char* name, od::value value, Choice& choice) {
  switch (name[0]) {
    case 'c':
      if (is(name, "content")) return take_string(value, choice.content);
      break;
    case 'r':
      if (is(name, "reasoning")) return take_string(value, choice.reasoning);
      if (is(name, "reasoning_content")) return take_string(value, choice.reasoning_content);
      break;
    case 't':
      if (!is(name, "tool_calls")) break;
      return each_element_if_array(value, [&](od::value call) {
        return each_member_if_object(call, [&](const char* member, od::value inner) {
          return is(member, "function") ? read_function(inner, choice) : simdjson::SUCCESS;
        });
      });
    case 'f':
      if (is(name, "function_call")) return read_function(value, choice);
      break;
    default:
      break;
  }
  return simdjson::SUCCESS;
}

// The name is generated text as much as the arguments are.
error_code ChunkReader::Impl::read_function(od::value value, Choice& choice) {
  return each_member_if_object(value, [&](const char* name, od::value member) {
    if (!is(name, "name") && !is(name, "arguments")) return simdjson::SUCCESS;
    std::string_view text;
    const error_code error = take_string(member, text);
    tools.append(text);
    choice.has_tool_text |= !text.empty();
    return error;
  });
}

void ChunkReader::Impl::apply(const Choice& choice) {
  std::string_view reasoning = choice.reasoning.empty() ? choice.reasoning_content : choice.reasoning;
  if (!choice.reasoning.empty() && !choice.reasoning_content.empty() && choice.reasoning != choice.reasoning_content) {
    joined.assign(choice.reasoning).append(choice.reasoning_content);
    reasoning = joined;
  }
  chunk.bears_tokens |= !choice.content.empty() || !reasoning.empty() || choice.has_tool_text || choice.token_ids > 0;
  chunk.bears_answer |= !choice.content.empty();
  if (choice.token_ids >= 0) chunk.token_ids = std::max(chunk.token_ids, 0) + choice.token_ids;
  if (!choice.finish_reason.empty()) chunk.finish_reason = choice.finish_reason;
  if (choice.index != 0) return;
  chunk.content = choice.content;
  chunk.reasoning = reasoning;
}

ChunkReader::ChunkReader() : impl_(std::make_unique<Impl>()) {}
ChunkReader::~ChunkReader() = default;
ChunkReader::ChunkReader(ChunkReader&&) noexcept = default;
ChunkReader& ChunkReader::operator=(ChunkReader&&) noexcept = default;

const Chunk& ChunkReader::read(std::string_view data, std::size_t readable_after) {
  Impl& impl = *impl_;
  Chunk& chunk = impl.chunk;
  chunk = {};
  if (data.size() < 16) {
    const std::string_view text = trim(data);
    if (text.empty()) return chunk;
    if (text == "[DONE]") {
      chunk.kind = Chunk::Kind::kDone;
      return chunk;
    }
  }
  impl.tools.clear();
  impl.reports_error = impl.has_choices = impl.has_plain_message = false;
  const auto broken = [&](const std::string& why) -> const Chunk& {
    chunk = {};
    chunk.kind = Chunk::Kind::kBroken;
    impl.message = "not a JSON object: " + why;
    chunk.error = impl.message;
    return chunk;
  };
  if (const error_code error = impl.read_document(data, readable_after)) return broken(simdjson::error_message(error));
  chunk.kind = Chunk::Kind::kChunk;
  chunk.tool_calls = impl.tools;
  const bool bare_message = impl.has_plain_message && !impl.has_choices && !chunk.usage && !chunk.timings;
  if (!impl.reports_error && !bare_message) return chunk;
  // On-demand reading does not check what it skips: an error has to be JSON throughout before it is believed.
  if (const auto whole = parse_json(data); !whole) return broken(whole.error().what);
  chunk.kind = Chunk::Kind::kError;
  impl.message = error_message(data);
  chunk.error = impl.message;
  return chunk;
}

}  // namespace bk::stream
