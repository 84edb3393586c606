#include "leg/probe.h"

#include <fmt/format.h>

#include "engine/body.h"
#include "leg/cold.h"
#include "leg/prompt_maker.h"
#include "leg/round.h"
#include "load/prompts.h"

namespace bk::leg {

Status run_probe(http::Transport& transport, const engine::Endpoint& endpoint, const ProbePlan& plan, Sink& sink) {
  const std::uint64_t seed = load::seed_or_new(plan.seed);
  PromptMaker prompts(transport, endpoint);
  const int total = plan.warmup + plan.requests;
  for (int done = 0; done < total; ++done) {
    sink.progress("probe", done, total);
    engine::Generation generation;
    BK_ASSIGN(generation.prompt, prompts.make(plan.prompt_tokens, seed + static_cast<std::uint64_t>(done)));
    generation.max_tokens = plan.max_tokens;
    generation.ignore_eos = plan.ignore_eos;
    generation.thinking_off = true;
    generation.temperature = 0.0;
    Round round{"probe", fmt::format("pp{}", plan.prompt_tokens), 1, done, done < plan.warmup, {}};
    round.index = round.warmup ? done : done - plan.warmup;
    round.requests.push_back({engine::make_request(endpoint, generation, {.total = plan.request_timeout}), 0, {}});
    if (plan.ignore_eos) round.requests.back().expected_tokens = plan.max_tokens;
    BK_ASSIGN(load::Sample sample, run_round(transport, endpoint, std::move(round), plan.stopped));
    (void)note_cached(&sample, sink);
    BK_TRY(sink.sample(sample));
    sink.progress("probe", done + 1, total);
  }
  return {};
}

}  // namespace bk::leg
