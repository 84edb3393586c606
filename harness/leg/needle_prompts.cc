#include "leg/needle_prompts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "engine/body.h"
#include "engine/whole_answer.h"
#include "load/prompts.h"

namespace bk::leg {
namespace {

constexpr std::uint64_t kFactSalt = 0x6e6565646c657321ULL;  // facts and filler draw from streams of their own
constexpr std::int64_t kCalibrationWords[2] = {60, 400};
constexpr int kMaxWordSteps = 12;
constexpr int kMaxPadSteps = 8;

}  // namespace

NeedleDocument needle_document(std::uint64_t seed, std::int64_t words, std::int64_t pads) {
  load::Random fact_random(seed ^ kFactSalt);
  load::Random filler_random(seed);
  NeedleDocument document;
  document.facts = gate::draw_facts([&](std::uint64_t bound) { return fact_random.below(bound); });
  std::array<std::string, 4> chunks;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const auto part = static_cast<std::int64_t>(i);
    chunks[i] = load::filler(load::Vocabulary::kEnglish14, words * (part + 1) / 4 - words * part / 4, filler_random);
  }
  for (std::int64_t i = 0; i < pads; ++i) chunks.back() += " a";
  document.text = gate::plant(chunks, document.facts);
  return document;
}

Result<NeedleDocument> fit_document(std::uint64_t seed, std::int64_t tokens, const load::TokenCounter& count) {
  const NeedleDocument bare = needle_document(seed, 0, 0);
  std::size_t longest = 0;
  std::int64_t frame = 0;
  for (std::size_t i = 0; i < bare.facts.size(); ++i) {
    BK_ASSIGN(const std::int64_t size, count(bare.prompt(bare.facts[i])));
    const bool longer = bare.facts[i].question.size() > bare.facts[longest].question.size();
    if (size > frame || (size == frame && longer)) std::tie(longest, frame) = std::pair(i, size);
  }
  const auto counted = [&](std::int64_t words, std::int64_t pads) {
    const NeedleDocument document = needle_document(seed, words, pads);
    return count(document.prompt(document.facts[longest]));
  };
  if (frame > tokens) {
    return fail(Errc::kUsage, fmt::format("a context of {} tokens is too short: the facts and a question alone have {}",
                                          tokens, frame));
  }
  // Secant steps to the most words that fit, then single letters for the rest.
  double per_word = 1.3;
  std::int64_t words = 0, size = frame, best_words = 0, best_size = frame;
  for (int step = 0; step < kMaxWordSteps; ++step) {
    auto change = static_cast<std::int64_t>(std::floor(static_cast<double>(tokens - size) / per_word));
    if (change == 0) break;
    words = std::max<std::int64_t>(0, words + change);
    BK_ASSIGN(size, counted(words, 0));
    if (size <= tokens && size > best_size) std::tie(best_words, best_size) = std::pair(words, size);
    if (words > 0) per_word = std::max(0.25, static_cast<double>(size - frame) / static_cast<double>(words));
  }
  std::int64_t pads = tokens - best_size, best_pads = 0;
  for (int step = 0; step < kMaxPadSteps && pads > 0 && best_size < tokens; ++step) {
    BK_ASSIGN(size, counted(best_words, pads));
    if (size <= tokens && size > best_size) std::tie(best_pads, best_size) = std::pair(pads, size);
    pads += tokens - size;
  }
  return needle_document(seed, best_words, best_pads);
}

NeedleSizer::NeedleSizer(http::Transport& transport, const engine::Endpoint& endpoint)
    : transport_(transport), endpoint_(endpoint) {
  auto tokenizer = engine::Tokenizer::detect(transport, endpoint);
  if (tokenizer) tokenizer_ = *tokenizer;
}

Result<NeedleDocument> NeedleSizer::make(std::uint64_t seed, std::int64_t tokens) {
  if (tokenizer_) {
    auto fitted = fit_document(seed, tokens, [this](const std::string& prompt) {
      return tokenizer_->count_chat(prompt, /*thinking_off=*/true);
    });
    if (fitted || fitted.error().code == Errc::kUsage) return fitted;
    if (fitted.error().code != Errc::kUnavailable) return fail(fitted.error());
    tokenizer_.reset();  // it applies no template for us: usage tells
  }
  if (!calibration_) BK_TRY(calibrate());
  return needle_document(seed, calibration_->words_for(tokens), 0);
}

Status NeedleSizer::calibrate() {
  std::int64_t counted[2];
  for (int i = 0; i < 2; ++i) {
    const NeedleDocument document = needle_document(0, kCalibrationWords[i], 0);
    BK_ASSIGN(counted[i], count_by_usage(document.prompt(document.facts[1])));
  }
  BK_ASSIGN(calibration_, load::calibrate(kCalibrationWords[0], counted[0], kCalibrationWords[1], counted[1]));
  return {};
}

Result<std::int64_t> NeedleSizer::count_by_usage(const std::string& prompt) {
  engine::Generation generation;
  generation.prompt = prompt;
  generation.max_tokens = 1;
  generation.temperature = 0.0;
  generation.thinking_off = true;
  generation.stream = false;
  http::Timeouts timeouts;
  timeouts.total = 300 * kSecond;
  BK_ASSIGN(const Json answer,
            engine::whole_answer(transport_, endpoint_, engine::make_request(endpoint_, generation, timeouts)));
  if (const auto tokens = answer["usage"]["prompt_tokens"].as_int()) return *tokens;
  return fail(Errc::kUnavailable, "the server has neither /tokenize nor usage: prompts cannot be sized",
              endpoint_.base_url);
}

}  // namespace bk::leg
