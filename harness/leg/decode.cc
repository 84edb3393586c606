#include "leg/decode.h"

#include <fmt/format.h>

#include "engine/body.h"
#include "leg/round.h"
#include "load/prompts.h"

namespace bk::leg {
namespace {

// The seed rule of the historical tool: repetition r at concurrency C has seed r + 1000 C, its request i seed * 131 +
// i.
std::uint64_t prompt_seed(const DecodePlan& plan, int concurrency, int rep, int request) {
  const auto seed = static_cast<std::uint64_t>(rep + 1000 * concurrency);
  return plan.seed + seed * 131 + static_cast<std::uint64_t>(request);
}

Round make_round(const engine::Endpoint& endpoint, const DecodePlan& plan, int concurrency, int rep) {
  Round round{"decode", fmt::format("C={}", concurrency), concurrency, rep, false, {}};
  for (int i = 0; i < concurrency; ++i) {
    engine::Generation generation;
    generation.prompt = load::decode_prompt(prompt_seed(plan, concurrency, rep, i));
    generation.max_tokens = plan.max_tokens;
    generation.temperature = plan.temperature;
    generation.ignore_eos = plan.ignore_eos;
    generation.thinking_off = true;
    load::PlannedRequest request{engine::make_request(endpoint, generation, {.total = plan.request_timeout}), 0, {}};
    if (plan.ignore_eos) request.expected_tokens = plan.max_tokens;
    round.requests.push_back(std::move(request));
  }
  return round;
}

}  // namespace

Status run_decode(http::Transport& transport, const engine::Endpoint& endpoint, const DecodePlan& plan, Sink& sink) {
  for (const int concurrency : plan.concurrency) {
    const int total = plan.warmup + plan.reps;
    for (int done = 0; done < total; ++done) {
      const bool warmup = done < plan.warmup;
      // Repetitions count from 1, as their seeds always have; warm-ups take numbers of their own.
      Round round = make_round(endpoint, plan, concurrency, warmup ? 500 + done : done - plan.warmup + 1);
      round.warmup = warmup;
      round.index = warmup ? done : done - plan.warmup;
      const std::string label = "decode " + round.cell;
      sink.progress(label, done, total);
      BK_ASSIGN(const load::Sample sample, run_round(transport, endpoint, std::move(round), plan.stopped));
      BK_TRY(sink.sample(sample));
      sink.progress(label, done + 1, total);
    }
  }
  return {};
}

}  // namespace bk::leg
