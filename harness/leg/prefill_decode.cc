#include "leg/prefill_decode.h"

#include <fmt/format.h>

#include "engine/body.h"
#include "leg/cold.h"
#include "leg/prompt_maker.h"
#include "leg/round.h"
#include "load/prompts.h"

namespace bk::leg {
namespace {

Round make_round(const engine::Endpoint& endpoint, const PrefillDecodePlan& plan, const char* cell, std::string prompt,
                 int max_tokens) {
  engine::Generation generation;
  generation.prompt = std::move(prompt);
  generation.max_tokens = max_tokens;
  Round round;
  round.leg = "prefill_decode";
  round.cell = cell;
  round.requests.push_back({engine::make_request(endpoint, generation, {.total = plan.request_timeout}), 0, {}});
  return round;
}

}  // namespace

Status run_prefill_decode(http::Transport& transport, const engine::Endpoint& endpoint, const PrefillDecodePlan& plan,
                          Sink& sink) {
  if (plan.context_limit && plan.prefill_tokens >= *plan.context_limit) {
    return fail(Errc::kUsage, fmt::format("the server holds {} tokens, not a prefill of {}: ask for fewer",
                                          *plan.context_limit, plan.prefill_tokens));
  }
  const std::uint64_t seed = load::seed_or_new(plan.seed);
  PromptMaker prompts(transport, endpoint);
  for (int rep = 0; rep < plan.reps; ++rep) {
    sink.progress("prefill and decode", 2 * rep, 2 * plan.reps);
    const std::uint64_t own = seed + static_cast<std::uint64_t>(rep);
    Round decode = make_round(endpoint, plan, "decode", load::decode_prompt(own), plan.decode_tokens);
    decode.index = rep;
    BK_ASSIGN(load::Sample decoded, run_round(transport, endpoint, std::move(decode), plan.stopped));
    BK_TRY(sink.sample(decoded));
    sink.progress("prefill and decode", 2 * rep + 1, 2 * plan.reps);

    BK_ASSIGN(std::string prompt, prompts.make(plan.prefill_tokens, own));
    Round prefill = make_round(endpoint, plan, "prefill", std::move(prompt), 1);
    prefill.index = rep;
    BK_ASSIGN(load::Sample filled, run_round(transport, endpoint, std::move(prefill), plan.stopped));
    if (note_cached(&filled, sink)) refuse_warm(&filled);
    BK_TRY(sink.sample(filled));
    sink.progress("prefill and decode", 2 * rep + 2, 2 * plan.reps);
  }
  return {};
}

}  // namespace bk::leg
