#include "chunks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"

namespace bk::sim {
namespace {

std::string quoted(const std::string& text) { return Json(text).dump(); }

std::string begin(const AnswerHead& head, bool chunk) {
  return fmt::format(R"({{"id":"{}","object":"{}","created":{},"model":{})", head.id,
                     !head.chat ? "text_completion"
                     : chunk    ? "chat.completion.chunk"
                                : "chat.completion",
                     head.created, quoted(head.model));
}

std::string counts(const UsageCounts& u) {
  return fmt::format(R"("prompt_tokens":{},"total_tokens":{},"completion_tokens":{})", u.prompt,
                     u.prompt + u.completion, u.completion);
}

std::string usage_member(const UsageCounts* usage, bool details) {
  if (usage == nullptr) return {};
  if (!details) return fmt::format(R"(,"usage":{{{}}})", counts(*usage));
  return fmt::format(R"(,"usage":{{{},"prompt_tokens_details":{{"cached_tokens":{}}}}})", counts(*usage),
                     usage->cached);
}

std::string ids_text(const std::vector<std::int32_t>& ids) { return fmt::format("[{}]", fmt::join(ids, ",")); }

std::string finish_text(const std::string& finish) {
  return finish.empty() ? "null" : fmt::format(R"("{}","stop_reason":null)", finish);
}

std::string event(std::string json) { return "data: " + std::move(json) + "\n\n"; }

}  // namespace

std::string role_event(const AnswerHead& head, int index, const UsageCounts* usage,
                       const std::vector<std::int32_t>* prompt_ids) {
  return event(fmt::format(R"({},"choices":[{{"index":{},"delta":{{"role":"assistant","content":""}},"logprobs":null,)"
                           R"("finish_reason":null}}]{},"prompt_token_ids":{}}})",
                           begin(head, true), index, usage_member(usage, false),
                           prompt_ids == nullptr ? "null" : ids_text(*prompt_ids)));
}

std::string delta_event(const AnswerHead& head, const Delta& delta, bool token_ids, const UsageCounts* usage) {
  const std::string ids = token_ids ? ids_text(delta.ids) : "null";
  if (!head.chat) {
    return event(
        fmt::format(R"({},"choices":[{{"index":{},"text":{},"logprobs":null,"finish_reason":{},"token_ids":{}}}]{}}})",
                    begin(head, true), delta.index, quoted(delta.content), finish_text(delta.finish), ids,
                    usage_member(usage, false)));
  }
  std::string members;
  if (!delta.reasoning.empty()) members = "\"reasoning\":" + quoted(delta.reasoning);
  if (!delta.content.empty() || delta.reasoning.empty()) {
    members += fmt::format("{}\"content\":{}", members.empty() ? "" : ",", quoted(delta.content));
  }
  return event(fmt::format(
      R"({},"choices":[{{"index":{},"delta":{{{}}},"logprobs":null,"finish_reason":{},"token_ids":{}}}]{}}})",
      begin(head, true), delta.index, members, finish_text(delta.finish), ids, usage_member(usage, false)));
}

std::string usage_event(const AnswerHead& head, const UsageCounts& usage) {
  return event(fmt::format(R"({},"choices":[]{}}})", begin(head, true), usage_member(&usage, true)));
}

std::string error_event(const std::string& message) {
  return event(fmt::format(
      R"({{"error": {{"message": {}, "type": "InternalServerError", "param": null, "code": 500}}}})", quoted(message)));
}

std::string whole_answer(const AnswerHead& head, const std::vector<Delta>& choices, const UsageCounts* usage,
                         bool token_ids, const std::vector<std::int32_t>& prompt_ids) {
  std::vector<std::string> parts;
  for (const Delta& c : choices) {
    const std::string text =
        head.chat ? fmt::format(R"("message":{{"role":"assistant","content":{},"refusal":null,"reasoning":{}}})",
                                quoted(c.content), c.reasoning.empty() ? "null" : quoted(c.reasoning))
                  : fmt::format(R"("text":{})", quoted(c.content));
    parts.push_back(fmt::format(R"({{"index":{},{},"logprobs":null,"finish_reason":{},"token_ids":{}}})", c.index, text,
                                finish_text(c.finish), token_ids ? ids_text(c.ids) : "null"));
  }
  return fmt::format(R"({},"choices":[{}]{},"prompt_token_ids":{}}})", begin(head, false), fmt::join(parts, ","),
                     usage_member(usage, true), token_ids ? ids_text(prompt_ids) : "null");
}

}  // namespace bk::sim
