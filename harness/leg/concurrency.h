#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/endpoint.h"
#include "http/transport.h"
#include "leg/sink.h"

namespace bk::leg {

enum class Arrivals { kPoisson, kConstant };
const char* to_string(Arrivals arrivals);

/// What a served request must keep to count as good; nothing: no limit. Both count from the scheduled start.
struct ServiceLimits {
  std::optional<double> ttft_ms, tpot_ms;
};

/// Load on one server. Closed loop: each of C streams asks again as soon as its answer ended. Open loop: requests
/// arrive at a rate, whatever the server does.
struct ConcurrencyPlan {
  std::vector<int> concurrency = {1, 2, 4, 8};  ///< closed loop: a cell each
  std::vector<double> rates;                    ///< requests per second; not empty: open loop, a cell each
  Arrivals arrivals = Arrivals::kPoisson;
  int requests = 0;                  ///< a cell; 0: eight a stream, or 32 in the open loop
  int warmup = 1;                    ///< discarded requests before the first cell
  Nanos ramp = 0;                    ///< closed loop: the streams begin spread evenly over this time
  int prompt_tokens = 0;             ///< 0: a short question; else cold prompts of this size
  std::vector<std::string> prompts;  ///< asked in turn, each behind a reference number; empty: as prompt_tokens says
  int max_tokens = 256;
  double temperature = 0.95;
  bool ignore_eos = true;
  ServiceLimits limits;
  std::uint64_t seed = 0;  ///< of prompts and arrivals; 0: a fresh one from the clock
  Nanos request_timeout = 900 * kSecond;
  std::function<bool()> stopped;  ///< polled while requests run; empty: never
};

/// From the scheduled start (not from the moment when the client got round to it) to the first token, and to the end:
/// waiting in the client's queue counts. Nothing for a request that failed or gave no token.
[[nodiscard]] std::optional<double> ttft_from_schedule_ms(const stream::RequestRecord& record);
[[nodiscard]] std::optional<double> latency_from_schedule_ms(const stream::RequestRecord& record);
/// Answered, and within both limits.
[[nodiscard]] bool is_good(const stream::RequestRecord& record, const ServiceLimits& limits);

/// Fills a sample's aggregate_tok_s, requests_per_s, goodput_per_s and good_share from its requests.
void fill_load_metrics(const ServiceLimits& limits, load::Sample* sample);

/// One sample a cell ("C=4", "rate=2.5") with all its requests. Metrics beside the usual ones, over the requests that
/// were answered: aggregate_tok_s (tokens / first sent to last end), requests_per_s, goodput_per_s (good requests in
/// the same time), good_share (of all requests). An open loop's `concurrency` is the most requests under way at once.
/// The cells of one sweep share boot, caches and drift: they are correlated, no basis for a verdict.
/// Errors: kUsage for a rate that is not positive, PromptMaker's, the sink's, kInterrupted when stopped.
[[nodiscard]] Status run_concurrency(http::Transport& transport, const engine::Endpoint& endpoint,
                                     const ConcurrencyPlan& plan, Sink& sink);

}  // namespace bk::leg
