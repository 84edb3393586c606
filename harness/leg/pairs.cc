#include "leg/pairs.h"

#include "engine/body.h"
#include "leg/round.h"
#include "load/prompts.h"
#include "load/random.h"

namespace bk::leg {
namespace {

Round make_round(const engine::Endpoint& endpoint, const PairsPlan& plan, bool is_cand, int pair) {
  Round round{"pairs", is_cand ? kCandCell : kBaseCell, 1, pair, false, {}};
  engine::Generation generation;
  generation.prompt = load::decode_prompt(plan.seed + 2 * static_cast<std::uint64_t>(pair) + (is_cand ? 1 : 0));
  generation.max_tokens = plan.max_tokens;
  generation.temperature = plan.temperature;
  generation.thinking_off = true;
  round.requests.push_back({engine::make_request(endpoint, generation, {.total = plan.request_timeout}), 0, {}});
  return round;
}

}  // namespace

Status run_pairs(http::Transport& transport, const engine::Endpoint& base, const engine::Endpoint& cand,
                 const PairsPlan& plan, Sink& sink) {
  load::Random random(plan.seed);
  const int total = plan.warmup + plan.pairs;
  for (int i = 0; i < total; ++i) {
    sink.progress("pairs", i, total);
    const bool cand_first = random.below(2) == 1;
    for (const bool is_cand : {cand_first, !cand_first}) {
      Round round = make_round(is_cand ? cand : base, plan, is_cand, i);
      round.warmup = i < plan.warmup;
      round.index = round.warmup ? i : i - plan.warmup;
      BK_ASSIGN(const load::Sample sample, run_round(transport, is_cand ? cand : base, std::move(round), plan.stopped));
      BK_TRY(sink.sample(sample));
    }
  }
  sink.progress("pairs", total, total);
  return {};
}

}  // namespace bk::leg
