#include "leg/round.h"

#include "engine/metrics_client.h"
#include "load/aggregate.h"

namespace bk::leg {
namespace {

std::optional<engine::Counters> counters_or_nothing(http::Transport& transport, const engine::Endpoint& endpoint) {
  auto counters = engine::fetch_counters(transport, endpoint);
  if (!counters) return std::nullopt;
  return *counters;
}

}  // namespace

Result<load::Sample> run_round(http::Transport& transport, const engine::Endpoint& endpoint, Round round,
                               const std::function<bool()>& stopped) {
  load::Sample sample;
  sample.leg = std::move(round.leg);
  sample.cell = std::move(round.cell);
  sample.concurrency = round.concurrency;
  sample.index = round.index;
  sample.warmup = round.warmup;

  const auto before = counters_or_nothing(transport, endpoint);
  load::RunOptions options;
  options.stopped = stopped;
  load::take_run(load::run_requests(transport, std::move(round.requests), options), &sample);
  if (stopped && stopped()) return fail(Errc::kInterrupted, "stopped during a " + sample.leg + " sample", sample.cell);
  sample.acceptance = engine::acceptance_between(before, counters_or_nothing(transport, endpoint));
  load::fill_metrics(&sample);
  return sample;
}

}  // namespace bk::leg
