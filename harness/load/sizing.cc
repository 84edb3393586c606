#include "load/sizing.h"

#include <algorithm>
#include <cmath>

namespace bk::load {
namespace {

// A frame with `words` of filler and `pads` single letters, each about one token: what words overshoot, pads close.
std::string framed(const SizeRequest& request, std::int64_t words, std::int64_t pads) {
  Random random(request.seed);
  std::string text = nonce(request.seed) + filler(request.vocabulary, words, random);
  for (std::int64_t i = 0; i < pads; ++i) text += " a";
  return text + " \n[end] Answer at length.";
}

/// Counts candidates and keeps the best one that is not too long.
class Search {
 public:
  Search(const SizeRequest& request, const TokenCounter& count) : request_(request), count_(count) {}

  Result<std::int64_t> try_size(std::int64_t words, std::int64_t pads) {
    ++counted_;
    std::string text = framed(request_, words, pads);
    BK_ASSIGN(const std::int64_t tokens, count_(text));
    if (tokens <= request_.tokens && (best_.text.empty() || tokens > best_.tokens)) {
      best_ = {std::move(text), tokens, words, tokens == request_.tokens};
    }
    return tokens;
  }
  [[nodiscard]] bool finished() const { return best_.exact || counted_ >= request_.max_counts; }
  [[nodiscard]] const SizedPrompt& best() const { return best_; }

 private:
  const SizeRequest& request_;
  const TokenCounter& count_;
  SizedPrompt best_;
  int counted_ = 0;
};

}  // namespace

Result<SizedPrompt> sized_prompt(const SizeRequest& request, const TokenCounter& count) {
  Search search(request, count);
  BK_ASSIGN(const std::int64_t frame, search.try_size(0, 0));
  if (frame > request.tokens) {
    return fail(Errc::kUsage,
                fmt::format("a prompt cannot have {} tokens: the frame and the chat template alone have {}",
                            request.tokens, frame));
  }
  // Secant steps on the number of words, then single letters one by one.
  double per_word = request.vocabulary == Vocabulary::kKorean20 ? 2.4 : 1.3;
  std::int64_t words = 0;
  std::int64_t tokens = frame;
  while (!search.finished()) {
    const auto step = static_cast<std::int64_t>(std::floor(static_cast<double>(request.tokens - tokens) / per_word));
    if (step == 0) break;
    words = std::max<std::int64_t>(0, words + step);
    BK_ASSIGN(tokens, search.try_size(words, 0));
    if (words > 0) per_word = std::max(0.25, static_cast<double>(tokens - frame) / static_cast<double>(words));
  }
  words = search.best().words;
  tokens = search.best().tokens;
  std::int64_t pads = 0;
  while (!search.finished()) {
    pads += request.tokens - tokens;
    if (pads <= 0) {  // a tokenizer that joins pads to their neighbours may skip a size: come from one word less
      if (words == 0) break;
      --words;
      pads = 0;
    }
    BK_ASSIGN(tokens, search.try_size(words, pads));
  }
  return search.best();
}

std::int64_t Calibration::words_for(std::int64_t tokens) const {
  return std::max<std::int64_t>(0, std::llround((static_cast<double>(tokens) - frame_tokens) / tokens_per_word));
}

Result<Calibration> calibrate(std::int64_t words_a, std::int64_t tokens_a, std::int64_t words_b,
                              std::int64_t tokens_b) {
  if (words_a == words_b) return fail(Errc::kUsage, "calibration needs two prompts of different lengths");
  Calibration c;
  c.tokens_per_word = static_cast<double>(tokens_b - tokens_a) / static_cast<double>(words_b - words_a);
  if (c.tokens_per_word <= 0)
    return fail(Errc::kUnavailable, "the server counts no more tokens for a longer prompt: prompts cannot be sized");
  c.frame_tokens = static_cast<double>(tokens_a) - c.tokens_per_word * static_cast<double>(words_a);
  return c;
}

}  // namespace bk::load
