#pragma once
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace bk::perf {

/// How far a client's times are from what the server did, over all its streams.
struct Errors {
  double ttft_mean_ms = 0;    ///< mean of |client TTFT - (first event sent - request arrived)|
  double rate_worst_pct = 0;  ///< largest |client rate / server rate - 1| of a stream, events after the first
  double event_p50_us = 0;    ///< percentiles of |arrival - sent|, nearest rank
  double event_p99_us = 0;
  double sent_per_s = 0;  ///< events that the server really sent, over the time it sent them in
  std::size_t events = 0;
};

/// `client` as run_client() gives it, `truth` as /sim/truth does. kMismatch when a stream or an event is missing.
[[nodiscard]] Result<Errors> compare(const Json& client, const Json& truth);

/// Nearest-rank percentile, p in (0, 1]; 0 for none.
[[nodiscard]] double percentile(std::vector<double> values, double p);

}  // namespace bk::perf
