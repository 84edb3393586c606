#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer.h"

namespace bk::sim {

/// The sentences of `document` that answer `question`: those that share most of its rare words, in document order.
/// Nothing when no sentence shares two. Only what stands in the document can be answered.
[[nodiscard]] std::vector<std::string> find_answer(std::string_view document, std::string_view question);
/// What it knows without being told: llama-benchy asks for it before it measures.
inline constexpr std::string_view kCommonKnowledge = "The capital of France is Paris.";

/// The part of a prompt's last message that asks: of the last line with a question mark, its first question to its
/// last; else the last line when that is short (at most 60 words). Empty when nothing asks.
[[nodiscard]] std::string_view question_in(std::string_view message);

/// What a defective index still sees of a long prompt: its beginning and its end. Short prompts are seen whole.
[[nodiscard]] std::string shallow_view(std::string_view document);

/// Endless plausible prose, one sentence a call, decided by the seed; Korean or English.
[[nodiscard]] std::string sentence(bool korean, std::uint64_t seed, std::uint64_t index);

/// True when the text holds a Hangul syllable.
[[nodiscard]] bool has_hangul(std::string_view text);

/// How one answer is made.
struct AnswerPlan {
  std::string reasoning;             ///< empty: none
  std::optional<std::string> fixed;  ///< a found answer; nothing: prose
  bool korean = false;
  bool corrupt = false;           ///< defect: damages the Korean text
  std::uint64_t first_seed = 0;   ///< decides the opening sentence
  std::uint64_t seed = 0;         ///< decides the rest
  std::int64_t prose_tokens = 0;  ///< natural length of prose
};

struct AnswerToken {
  std::int32_t id = 0;
  bool reasoning = false;
};

/// The tokens of one answer, made as they are asked for. After the natural end prose goes on (ignore_eos).
class AnswerTokens {
 public:
  AnswerTokens(const Tokenizer& tokenizer, AnswerPlan plan);
  /// Tokens up to the natural end.
  [[nodiscard]] std::int64_t natural_length() const { return natural_; }
  [[nodiscard]] AnswerToken next();

 private:
  void append(std::string_view text, bool reasoning);
  void extend();
  const Tokenizer& tokenizer_;
  AnswerPlan plan_;
  std::vector<AnswerToken> tokens_;
  std::size_t taken_ = 0;
  std::uint64_t sentences_ = 0;
  std::int64_t natural_ = 0;
};

}  // namespace bk::sim
