#include "truth.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/clock.h"

namespace bk::perf {
namespace {

struct Sums {
  std::vector<double> event_us;
  std::vector<double> ttft_ms;
  double worst_rate = 0;
  Nanos first_sent = std::numeric_limits<Nanos>::max(), last_sent = 0;
};

double rate_of(Nanos first, Nanos last, std::size_t events) {
  return static_cast<double>(events - 1) / to_s(last - first);
}

Status add_stream(const Json& client, const Json& truth, Sums* sums) {
  const auto& seen = client["events"].items();
  const auto& sent = truth["events"].items();
  if (seen.size() != sent.size() || seen.size() < 2) {
    return fail(Errc::kMismatch, fmt::format("{} events arrived of {} sent", seen.size(), sent.size()),
                client["id"].as_string().value_or(""));
  }
  const auto seen_at = [&seen](std::size_t i) { return seen[i].as_int().value_or(0); };
  const auto sent_at = [&sent](std::size_t i) { return sent[i].items().front().as_int().value_or(0); };
  for (std::size_t i = 0; i < seen.size(); ++i) {
    sums->event_us.push_back(std::abs(static_cast<double>(seen_at(i) - sent_at(i))) / 1e3);
  }
  const Nanos ttft = seen_at(0) - client["sent"].as_int().value_or(0);
  const Nanos true_ttft = sent_at(0) - truth["arrived_ns"].as_int().value_or(0);
  sums->ttft_ms.push_back(std::abs(to_ms(ttft - true_ttft)));
  const std::size_t last = seen.size() - 1;
  sums->first_sent = std::min(sums->first_sent, sent_at(0));
  sums->last_sent = std::max(sums->last_sent, sent_at(last));
  const double ratio =
      rate_of(seen_at(0), seen_at(last), seen.size()) / rate_of(sent_at(0), sent_at(last), sent.size());
  sums->worst_rate = std::max(sums->worst_rate, std::abs(ratio - 1));
  return {};
}

}  // namespace

double percentile(std::vector<double> values, double p) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

Result<Errors> compare(const Json& client, const Json& truth) {
  std::map<std::string, const Json*> by_id;
  for (const Json& request : truth["requests"].items()) {
    by_id[request["client_request_id"].as_string().value_or("")] = &request;
  }
  Sums sums;
  for (const Json& request : client["requests"].items()) {
    const auto found = by_id.find(request["id"].as_string().value_or(""));
    if (found == by_id.end()) return fail(Errc::kMismatch, "the server knows nothing of a request");
    BK_TRY(add_stream(request, *found->second, &sums));
  }
  if (sums.ttft_ms.empty()) return fail(Errc::kMismatch, "no stream to compare");
  Errors errors;
  for (const double ms : sums.ttft_ms) errors.ttft_mean_ms += ms / static_cast<double>(sums.ttft_ms.size());
  errors.rate_worst_pct = 100 * sums.worst_rate;
  errors.events = sums.event_us.size();
  errors.sent_per_s = static_cast<double>(errors.events) / to_s(sums.last_sent - sums.first_sent);
  errors.event_p50_us = percentile(sums.event_us, 0.50);
  errors.event_p99_us = percentile(sums.event_us, 0.99);
  return errors;
}

}  // namespace bk::perf
