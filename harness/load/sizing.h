#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "load/prompts.h"

namespace bk::load {

/// Tokens that the server makes of a prompt, its chat template included (its /tokenize, or `usage.prompt_tokens` of a
/// one-token request).
using TokenCounter = std::function<Result<std::int64_t>(const std::string& prompt)>;

struct SizedPrompt {
  std::string text;
  std::int64_t tokens = 0;  ///< as counted
  std::int64_t words = 0;   ///< words of filler in it
  bool exact = false;       ///< tokens == asked; else the nearest size not above it
};

struct SizeRequest {
  std::int64_t tokens = 2048;
  Vocabulary vocabulary = Vocabulary::kEnglish20;
  std::uint64_t seed = 0;  ///< of the nonce and of the words
  int max_counts = 24;     ///< at most so many calls of the counter
};

/// A prompt that the counter finds to have exactly `tokens` tokens: words first, then short pads to close the rest.
/// kUsage when the frame alone is longer than asked; the counter's own error otherwise.
[[nodiscard]] Result<SizedPrompt> sized_prompt(const SizeRequest& request, const TokenCounter& count);

/// Tokens per word and the frame's tokens, from two prompts whose counts are known: what sizing needs where every count
/// costs a request.
struct Calibration {
  double tokens_per_word = 1.3;
  double frame_tokens = 12;
  [[nodiscard]] std::int64_t words_for(std::int64_t tokens) const;
};
/// kUsage when the two have the same number of words, kUnavailable when the counts cannot be used.
[[nodiscard]] Result<Calibration> calibrate(std::int64_t words_a, std::int64_t tokens_a, std::int64_t words_b,
                                            std::int64_t tokens_b);

}  // namespace bk::load
