#include "leg/round.h"

#include "engine/metrics_client.h"
#include "leg/step_sampler.h"
#include "load/aggregate.h"

namespace bk::leg {
namespace {

std::optional<engine::Counters> counters_or_nothing(http::Transport& transport, const engine::Endpoint& endpoint) {
  auto counters = engine::fetch_counters(transport, endpoint);
  if (!counters) return std::nullopt;
  return *counters;
}

void note_windows(const StepSampler& sampler, load::Sample* sample) {
  sample->step_windows = window_step_rates(sampler.readings());
  const auto middle = load::median(sample->step_windows);
  stream::Figure figure = middle ? stream::Figure::of(*middle) : stream::Figure::none("no_whole_window");
  if (!middle && sampler.readings().empty()) figure.reason = "step_counter_missing";
  if (!sample->ok()) figure = stream::Figure::none("request_failed");
  sample->metrics["window_step_s"] = figure;
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
  StepSampler sampler(transport, endpoint, round.step_window);
  if (round.step_window > 0) {
    options.stopped = [&] {
      sampler.poll();
      return stopped && stopped();
    };
  }
  load::take_run(load::run_requests(transport, std::move(round.requests), options), &sample);
  sampler.finish();
  if (stopped && stopped()) return fail(Errc::kInterrupted, "stopped during a " + sample.leg + " sample", sample.cell);
  sample.acceptance = engine::acceptance_between(before, counters_or_nothing(transport, endpoint));
  load::fill_metrics(&sample);
  if (round.step_window > 0) note_windows(sampler, &sample);
  return sample;
}

}  // namespace bk::leg
