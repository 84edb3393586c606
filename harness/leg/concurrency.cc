#include "leg/concurrency.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/body.h"
#include "leg/prompt_maker.h"
#include "leg/round.h"
#include "load/aggregate.h"
#include "load/pacing.h"
#include "load/prompts.h"
#include "stream/figures.h"

namespace bk::leg {
namespace {

using stream::Figure;
using stream::RequestRecord;

constexpr int kRequestsPerStream = 8;
constexpr int kOpenRequests = 32;

/// One point of the sweep.
struct Cell {
  std::string name;
  int streams = 1;
  std::optional<double> rate;
  int requests = 1;
};

std::vector<Cell> cells_of(const ConcurrencyPlan& plan) {
  std::vector<Cell> cells;
  for (const double rate : plan.rates) {
    cells.push_back({fmt::format("rate={}", rate), 1, rate, plan.requests > 0 ? plan.requests : kOpenRequests});
  }
  if (!cells.empty()) return cells;
  for (const int c : plan.concurrency) {
    cells.push_back({fmt::format("C={}", c), c, {}, plan.requests > 0 ? plan.requests : kRequestsPerStream * c});
  }
  return cells;
}

/// One call of run_concurrency.
class Sweep {
 public:
  Sweep(http::Transport& transport, const engine::Endpoint& endpoint, const ConcurrencyPlan& plan, Sink& sink)
      : transport_(transport), endpoint_(endpoint), plan_(plan), sink_(sink), seed_(load::seed_or_new(plan.seed)) {}

  Status run() {
    if (plan_.warmup > 0) BK_TRY(measure({"warm-up", 1, {}, plan_.warmup}, true));
    const std::vector<Cell> cells = cells_of(plan_);
    const int total = static_cast<int>(cells.size());
    for (int done = 0; done < total; ++done) {
      const Cell& cell = cells[static_cast<std::size_t>(done)];
      sink_.progress("concurrency", done, total);
      BK_TRY(measure(cell, false));
      sink_.progress("concurrency", done + 1, total);
    }
    return {};
  }

 private:
  Status measure(const Cell& cell, bool warmup) {
    Round round{"concurrency", cell.name, cell.streams, 0, warmup, {}};
    for (int i = 0; i < cell.requests; ++i) {
      BK_ASSIGN(load::PlannedRequest request, make_request());
      round.requests.push_back(std::move(request));
    }
    BK_TRY(pace(cell, &round.requests));
    BK_ASSIGN(load::Sample sample, run_round(transport_, endpoint_, std::move(round), plan_.stopped));
    if (cell.rate) {
      sample.concurrency = std::max(1, load::most_at_once(sample.requests));
      sample.metrics["step_s"] = Figure::none("open_loop");
    }
    fill_load_metrics(plan_.limits, &sample);
    return sink_.sample(sample);
  }

  Result<load::PlannedRequest> make_request() {
    engine::Generation generation;
    const std::uint64_t turn = asked_++;
    const std::uint64_t seed = seed_ + turn;
    if (!plan_.prompts.empty()) {
      generation.prompt = load::nonce(seed) + plan_.prompts[turn % plan_.prompts.size()];
    } else if (plan_.prompt_tokens > 0) {
      if (!prompts_) prompts_.emplace(transport_, endpoint_);
      BK_ASSIGN(generation.prompt, prompts_->make(plan_.prompt_tokens, seed));
    } else {
      generation.prompt = load::decode_prompt(seed);
    }
    generation.max_tokens = plan_.max_tokens;
    generation.temperature = plan_.temperature;
    generation.ignore_eos = plan_.ignore_eos;
    generation.thinking_off = true;
    load::PlannedRequest request{engine::make_request(endpoint_, generation, {.total = plan_.request_timeout}), 0, {}};
    if (plan_.ignore_eos) request.expected_tokens = plan_.max_tokens;
    return request;
  }

  Status pace(const Cell& cell, std::vector<load::PlannedRequest>* requests) const {
    const auto streams = static_cast<std::size_t>(cell.streams);
    if (!cell.rate) {
      const std::vector<Nanos> starts = load::staggered(cell.streams, plan_.ramp);
      for (std::size_t i = 0; i < requests->size(); ++i) {
        if (i < streams) {
          (*requests)[i].offset = starts[i];
        } else {
          (*requests)[i].after = i - streams;
        }
      }
      return {};
    }
    const bool poisson = plan_.arrivals == Arrivals::kPoisson;
    BK_ASSIGN(const std::vector<Nanos> starts, poisson ? load::poisson_arrivals(*cell.rate, cell.requests, seed_)
                                                       : load::constant_arrivals(*cell.rate, cell.requests));
    for (std::size_t i = 0; i < requests->size(); ++i) (*requests)[i].offset = starts[i];
    return {};
  }

  http::Transport& transport_;
  const engine::Endpoint& endpoint_;
  const ConcurrencyPlan& plan_;
  Sink& sink_;
  std::uint64_t seed_;
  std::uint64_t asked_ = 0;
  std::optional<PromptMaker> prompts_;
};

}  // namespace

void fill_load_metrics(const ServiceLimits& limits, load::Sample* sample) {
  double tokens = 0, answered = 0, good = 0;
  std::optional<Nanos> first, last;
  for (const RequestRecord& record : sample->requests) {
    if (record.sent != 0) first = std::min(first.value_or(record.sent), record.sent);
    if (!record.ok() || !record.end) continue;
    last = std::max(last.value_or(0), record.sent + *record.end);
    answered += 1;
    good += is_good(record, limits) ? 1 : 0;
    tokens += static_cast<double>(record.completion_tokens.value_or(0));
  }
  const bool counted = std::all_of(sample->requests.begin(), sample->requests.end(),
                                   [](const RequestRecord& r) { return !r.ok() || r.completion_tokens; });
  const double seconds = first && last ? to_s(*last - *first) : 0;
  const auto per_second = [&](double count) {
    if (answered == 0) return Figure::none("request_failed");
    return seconds > 0 ? Figure::of(count / seconds) : Figure::none("zero_window");
  };
  const bool too_fast = std::any_of(sample->requests.begin(), sample->requests.end(),
                                    [](const RequestRecord& r) { return r.e2e_tok_s.reason == stream::kTooFast; });
  sample->metrics["aggregate_tok_s"] = !counted   ? Figure::none("no_usage")
                                       : too_fast ? Figure::none(stream::kTooFast)
                                                  : per_second(tokens);
  sample->metrics["requests_per_s"] = per_second(answered);
  sample->metrics["goodput_per_s"] = per_second(good);
  sample->metrics["good_share"] = sample->requests.empty()
                                      ? Figure::none("no_requests")
                                      : Figure::of(good / static_cast<double>(sample->requests.size()));
}

const char* to_string(Arrivals arrivals) { return arrivals == Arrivals::kPoisson ? "poisson" : "constant"; }

std::optional<double> ttft_from_schedule_ms(const RequestRecord& record) {
  if (!record.ok() || !record.ttft) return std::nullopt;
  return to_ms(record.sent - record.scheduled + *record.ttft);
}

std::optional<double> latency_from_schedule_ms(const RequestRecord& record) {
  if (!record.ok() || !record.end) return std::nullopt;
  return to_ms(record.sent - record.scheduled + *record.end);
}

bool is_good(const RequestRecord& record, const ServiceLimits& limits) {
  const auto ttft = ttft_from_schedule_ms(record);
  if (!ttft || (limits.ttft_ms && *ttft > *limits.ttft_ms)) return false;
  // One token has no time per token, so it breaks no limit on it.
  return !limits.tpot_ms || record.tpot_ms.value.value_or(0) <= *limits.tpot_ms;
}

Status run_concurrency(http::Transport& transport, const engine::Endpoint& endpoint, const ConcurrencyPlan& plan,
                       Sink& sink) {
  return Sweep(transport, endpoint, plan, sink).run();
}

}  // namespace bk::leg
