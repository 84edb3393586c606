#include "leg/probe.h"

#include <fmt/format.h>

#include "engine/body.h"
#include "engine/tokenize.h"
#include "leg/round.h"
#include "load/sizing.h"

namespace bk::leg {
namespace {

constexpr int kCalibrationWords[2] = {60, 400};

/// How prompts of the wanted length are made on this server.
class PromptMaker {
 public:
  PromptMaker(http::Transport& transport, const engine::Endpoint& endpoint, std::int64_t tokens)
      : transport_(transport), endpoint_(endpoint), tokens_(tokens) {
    auto tokenizer = engine::Tokenizer::detect(transport, endpoint);
    if (tokenizer) tokenizer_ = std::move(*tokenizer);
  }

  Result<std::string> make(std::uint64_t seed) {
    if (tokenizer_) {
      load::SizeRequest request;
      request.tokens = tokens_;
      request.seed = seed;
      auto sized = load::sized_prompt(
          request, [&](const std::string& prompt) { return tokenizer_->count_chat(prompt, /*thinking_off=*/true); });
      if (sized) return sized->text;
      if (sized.error().code != Errc::kUnavailable) return fail(sized.error());
      tokenizer_.reset();  // it has no template for us: usage tells
    }
    if (!calibration_) BK_TRY(calibrate(seed));
    return load::prefill_prompt(load::Vocabulary::kEnglish20, calibration_->words_for(tokens_), seed);
  }

 private:
  Status calibrate(std::uint64_t seed) {
    std::int64_t counted[2];
    for (int i = 0; i < 2; ++i) {
      engine::Generation generation;
      generation.prompt = load::prefill_prompt(load::Vocabulary::kEnglish20, kCalibrationWords[i],
                                               seed ^ (0x5eedULL << 32) ^ static_cast<std::uint64_t>(i));
      generation.max_tokens = 1;
      generation.thinking_off = true;
      load::RunOptions options;
      const load::Run run = load::run_requests(
          transport_, {{engine::make_request(endpoint_, generation, {.total = 300 * kSecond}), 0, {}}}, options);
      const stream::RequestRecord& record = run.requests.front();
      if (!record.ok()) return fail(Errc::kServer, record.reason, endpoint_.base_url);
      if (!record.usage || !record.usage->prompt_tokens) {
        return fail(Errc::kUnavailable, "the server has neither /tokenize nor usage: prompts cannot be sized",
                    endpoint_.base_url);
      }
      counted[i] = *record.usage->prompt_tokens;
    }
    BK_ASSIGN(calibration_, load::calibrate(kCalibrationWords[0], counted[0], kCalibrationWords[1], counted[1]));
    return {};
  }

  http::Transport& transport_;
  const engine::Endpoint& endpoint_;
  std::int64_t tokens_;
  std::optional<engine::Tokenizer> tokenizer_;
  std::optional<load::Calibration> calibration_;
};

void note_cache(load::Sample* sample, Sink& sink) {
  const stream::RequestRecord& record = sample->requests.front();
  const auto cached = record.usage ? record.usage->cached_tokens : std::nullopt;
  sample->metrics["cached_tokens"] =
      cached ? stream::Figure::of(static_cast<double>(*cached)) : stream::Figure::none("not_reported");
  if (cached.value_or(0) > 0 && !sample->warmup) {
    sink.warn(fmt::format("{} of {} prompt tokens came from the server's prefix cache: not a cold prompt", *cached,
                          record.usage->prompt_tokens.value_or(0)));
  }
}

}  // namespace

Status run_probe(http::Transport& transport, const engine::Endpoint& endpoint, const ProbePlan& plan, Sink& sink) {
  const std::uint64_t seed = plan.seed != 0 ? plan.seed : static_cast<std::uint64_t>(wall_now());
  PromptMaker prompts(transport, endpoint, plan.prompt_tokens);
  const int total = plan.warmup + plan.requests;
  for (int done = 0; done < total; ++done) {
    sink.progress("probe", done, total);
    engine::Generation generation;
    BK_ASSIGN(generation.prompt, prompts.make(seed + static_cast<std::uint64_t>(done)));
    generation.max_tokens = plan.max_tokens;
    generation.ignore_eos = plan.ignore_eos;
    generation.thinking_off = true;
    generation.temperature = 0.0;
    Round round{"probe", fmt::format("pp{}", plan.prompt_tokens), 1, done, done < plan.warmup, {}};
    round.index = round.warmup ? done : done - plan.warmup;
    round.requests.push_back({engine::make_request(endpoint, generation, {.total = plan.request_timeout}), 0, {}});
    if (plan.ignore_eos) round.requests.back().expected_tokens = plan.max_tokens;
    BK_ASSIGN(load::Sample sample, run_round(transport, endpoint, std::move(round), plan.stopped));
    note_cache(&sample, sink);
    BK_TRY(sink.sample(sample));
    sink.progress("probe", done + 1, total);
  }
  return {};
}

}  // namespace bk::leg
