#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace bk::sim {

/// The parts of an answer that every chunk repeats.
struct AnswerHead {
  std::string id, model;
  std::int64_t created = 0;
  bool chat = true;
};

struct UsageCounts {
  std::int64_t prompt = 0, completion = 0, cached = 0;
};

/// One choice's news.
struct Delta {
  int index = 0;
  std::string content, reasoning;
  std::vector<std::int32_t> ids;
  std::string finish;  ///< empty: not finished
};

/// "data: {...}\n\n" of the role chunk (chat only), with the prompt's ids where asked for.
[[nodiscard]] std::string role_event(const AnswerHead& head, int index, const UsageCounts* usage,
                                     const std::vector<std::int32_t>* prompt_ids);
/// A chunk with new text. `usage`: continuous usage, or nullptr.
[[nodiscard]] std::string delta_event(const AnswerHead& head, const Delta& delta, bool token_ids,
                                      const UsageCounts* usage);
/// The last chunk, without choices.
[[nodiscard]] std::string usage_event(const AnswerHead& head, const UsageCounts& usage);
/// The error that an engine's death leaves in a 200.
[[nodiscard]] std::string error_event(const std::string& message);
/// The answer of a request that did not stream.
[[nodiscard]] std::string whole_answer(const AnswerHead& head, const std::vector<Delta>& choices,
                                       const UsageCounts* usage, bool token_ids,
                                       const std::vector<std::int32_t>& prompt_ids);

}  // namespace bk::sim
