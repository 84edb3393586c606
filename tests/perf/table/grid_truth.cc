#include "grid_truth.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace bk::perf {

std::optional<double> TrueRequest::decode_tok_s() const {
  if (last() <= first()) return std::nullopt;
  return tokens_after_first() / to_s(last() - first());
}

Result<TrueRequest> true_request(const Json& request) {
  TrueRequest out;
  for (const Json& event : request["events"].items()) {
    out.events.emplace_back(event.items()[0].as_int().value_or(0), event.items()[1].as_double().value_or(0));
    out.tokens += out.events.back().second;
  }
  if (out.events.empty()) return fail(Errc::kMismatch, "the engine knows of a request without an event");
  if (!request["end_ns"].as_int()) return fail(Errc::kMismatch, "the engine knows of a request that has not ended");
  out.arrived = request["arrived_ns"].as_int().value_or(0);
  out.end = *request["end_ns"].as_int();
  out.prompt_tokens = request["prompt_tokens"].as_double().value_or(0);
  out.cached_tokens = request["cached_tokens"].as_double().value_or(0);
  return out;
}

double per_second(double quantity, const std::vector<TrueRequest>& requests) {
  if (requests.empty()) return 0;
  Nanos first = requests.front().arrived, last = 0;
  for (const TrueRequest& one : requests) {
    first = std::min(first, one.arrived);
    last = std::max(last, one.end);
  }
  return last > first ? quantity / to_s(last - first) : 0;
}

double tokens_of(const std::vector<TrueRequest>& requests) {
  double tokens = 0;
  for (const TrueRequest& one : requests) tokens += one.tokens;
  return tokens;
}

double true_phase_rate(const TrueRequest& stream, Nanos begin, Nanos end, Nanos slack, double seen) {
  double surely = 0;
  std::vector<double> totals = {0};  // of the events that may be on either side
  for (std::size_t i = 1; i < stream.events.size(); ++i) {
    const auto& [at, tokens] = stream.events[i];
    const bool doubtful = (std::abs(at - begin) <= slack && begin != stream.first()) ||
                          (std::abs(at - end) <= slack && end != stream.last());
    if (!doubtful) {
      surely += at > begin && at <= end ? tokens : 0;
      continue;
    }
    const std::size_t known = totals.size();
    for (std::size_t t = 0; t < known; ++t) totals.push_back(totals[t] + tokens);
  }
  double nearest = 0;
  for (const double total : totals) {
    const double rate = (surely + total) / to_s(end - begin);
    if (total == totals.front() || std::abs(rate - seen) < std::abs(nearest - seen)) nearest = rate;
  }
  return nearest;
}

}  // namespace bk::perf
