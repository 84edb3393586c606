#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"

namespace bk::perf {

/// What the engine did for one request, as /sim/truth tells it. Times are CLOCK_MONOTONIC.
struct TrueRequest {
  Nanos arrived = 0, end = 0;
  std::vector<std::pair<Nanos, double>> events;  ///< just before write(), tokens
  double tokens = 0, prompt_tokens = 0, cached_tokens = 0;

  [[nodiscard]] Nanos first() const { return events.front().first; }
  [[nodiscard]] Nanos last() const { return events.back().first; }
  [[nodiscard]] double ttft_ms() const { return to_ms(first() - arrived); }
  [[nodiscard]] double latency_ms() const { return to_ms(end - arrived); }
  [[nodiscard]] double tokens_after_first() const { return tokens - events.front().second; }
  /// Nothing when all its tokens came at one moment.
  [[nodiscard]] std::optional<double> decode_tok_s() const;
  [[nodiscard]] double prefill_tok_s() const { return 1e3 * (prompt_tokens - cached_tokens) / ttft_ms(); }
};
/// kMismatch for a request without an event or one that has not ended.
[[nodiscard]] Result<TrueRequest> true_request(const Json& request);

/// A quantity of several requests over the time from the first arrived to the last ended; 0 for no time.
[[nodiscard]] double per_second(double quantity, const std::vector<TrueRequest>& requests);
[[nodiscard]] double tokens_of(const std::vector<TrueRequest>& requests);

/// Tokens per second of `stream` within (begin, end]. Which side of a boundary an event falls on that stands within
/// `slack` of it nobody can say from outside: of the possible rates it is the one nearest to `seen`.
[[nodiscard]] double true_phase_rate(const TrueRequest& stream, Nanos begin, Nanos end, Nanos slack, double seen);

}  // namespace bk::perf
