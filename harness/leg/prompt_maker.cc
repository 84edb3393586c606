#include "leg/prompt_maker.h"

#include "engine/body.h"
#include "load/runner.h"

namespace bk::leg {
namespace {

constexpr int kCalibrationWords[2] = {60, 400};
// Some words meet no size exactly, where the tokenizer joins their ends: others do.
constexpr std::uint64_t kAttempts = 4;

}  // namespace

PromptMaker::PromptMaker(http::Transport& transport, const engine::Endpoint& endpoint)
    : transport_(transport), endpoint_(endpoint) {
  auto tokenizer = engine::Tokenizer::detect(transport, endpoint);
  if (tokenizer) tokenizer_ = *tokenizer;
}

Result<std::string> PromptMaker::make(std::int64_t tokens, std::uint64_t seed) {
  if (tokenizer_) {
    auto sized = sized_exactly(tokens, seed);
    if (sized) return sized->text;
    if (sized.error().code != Errc::kUnavailable) return fail(sized.error());
    tokenizer_.reset();  // it has no template for us: usage tells
  }
  if (!calibration_) BK_TRY(calibrate(seed));
  return load::prefill_prompt(load::Vocabulary::kEnglish20, calibration_->words_for(tokens), seed);
}

Result<load::SizedPrompt> PromptMaker::sized_exactly(std::int64_t tokens, std::uint64_t seed) const {
  load::SizedPrompt best;
  for (std::uint64_t attempt = 0; attempt < kAttempts && !best.exact; ++attempt) {
    load::SizeRequest request;
    request.tokens = tokens;
    request.seed = seed + (attempt << 48);
    BK_ASSIGN(load::SizedPrompt sized, load::sized_prompt(request, [&](const std::string& prompt) {
                return tokenizer_->count_chat(prompt, /*thinking_off=*/true);
              }));
    if (sized.exact || sized.tokens > best.tokens) best = std::move(sized);
  }
  return best;
}

Status PromptMaker::calibrate(std::uint64_t seed) {
  std::int64_t counted[2];
  for (int i = 0; i < 2; ++i) {
    engine::Generation generation;
    generation.prompt = load::prefill_prompt(load::Vocabulary::kEnglish20, kCalibrationWords[i],
                                             seed ^ (0x5eedULL << 32) ^ static_cast<std::uint64_t>(i));
    generation.max_tokens = 1;
    generation.thinking_off = true;
    load::RunOptions options;
    options.stopped = [this] { return transport_.stopped(); };
    const load::Run run = load::run_requests(
        transport_, {{engine::make_request(endpoint_, generation, {.total = 300 * kSecond}), 0, {}}}, options);
    const stream::RequestRecord& record = run.requests.front();
    if (transport_.stopped()) return fail(Errc::kInterrupted, "stopped while prompts were sized", endpoint_.base_url);
    if (!record.ok()) return fail(Errc::kServer, record.reason, endpoint_.base_url);
    if (!record.usage && !record.done_seen) {
      return fail(Errc::kServer, "the answer ended behind its finish_reason, without usage and [DONE]: was it cut?",
                  endpoint_.base_url);
    }
    if (!record.usage || !record.usage->prompt_tokens) {
      return fail(Errc::kUnavailable, "the server has neither /tokenize nor usage: prompts cannot be sized",
                  endpoint_.base_url);
    }
    counted[i] = *record.usage->prompt_tokens;
  }
  BK_ASSIGN(calibration_, load::calibrate(kCalibrationWords[0], counted[0], kCalibrationWords[1], counted[1]));
  return {};
}

}  // namespace bk::leg
