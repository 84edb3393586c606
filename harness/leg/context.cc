#include "leg/context.h"

#include <fmt/format.h>

#include "engine/body.h"
#include "leg/cold.h"
#include "leg/prompt_maker.h"
#include "leg/round.h"
#include "load/prompts.h"

namespace bk::leg {
namespace {

Status check_room(const ContextPlan& plan) {
  if (!plan.context_limit) return {};
  for (const std::int64_t tokens : plan.contexts) {
    if (tokens + plan.max_tokens <= *plan.context_limit) continue;
    return fail(Errc::kUsage, fmt::format("the server holds {} tokens, not a prompt of {} and {} of answer: leave this "
                                          "context out",
                                          *plan.context_limit, tokens, plan.max_tokens));
  }
  return {};
}

Round make_round(const engine::Endpoint& endpoint, const ContextPlan& plan, std::string prompt, std::string cell) {
  engine::Generation generation;
  generation.prompt = std::move(prompt);
  generation.max_tokens = plan.max_tokens;
  generation.ignore_eos = plan.ignore_eos;
  generation.thinking_off = true;
  generation.temperature = 0.0;
  Round round;
  round.leg = "context";
  round.cell = std::move(cell);
  round.requests.push_back({engine::make_request(endpoint, generation, {.total = plan.request_timeout}), 0, {}});
  if (plan.ignore_eos) round.requests.back().expected_tokens = plan.max_tokens;
  return round;
}

}  // namespace

Status run_context(http::Transport& transport, const engine::Endpoint& endpoint, const ContextPlan& plan, Sink& sink) {
  BK_TRY(check_room(plan));
  const std::uint64_t base = load::seed_or_new(plan.seed);
  PromptMaker prompts(transport, endpoint);
  std::uint64_t asked = 0;
  int warmup = plan.warmup;
  for (const std::int64_t tokens : plan.contexts) {
    const std::string cell = tokens_label(tokens);
    const int total = warmup + plan.reps;
    for (int done = 0; done < total; ++done) {
      sink.progress("context " + cell, done, total);
      BK_ASSIGN(std::string prompt, prompts.make(tokens, base + asked++));
      Round round = make_round(endpoint, plan, std::move(prompt), cell);
      round.warmup = done < warmup;
      round.index = round.warmup ? done : done - warmup;
      BK_ASSIGN(load::Sample sample, run_round(transport, endpoint, std::move(round), plan.stopped));
      if (note_cached(&sample, sink)) refuse_warm(&sample);
      BK_TRY(sink.sample(sample));
      sink.progress("context " + cell, done + 1, total);
    }
    warmup = 0;
  }
  return {};
}

}  // namespace bk::leg
