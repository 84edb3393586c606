#include "load/aggregate.h"

#include <algorithm>
#include <functional>

#include "stream/figures.h"

namespace bk::load {
namespace {

using stream::Figure;
using stream::RequestRecord;

Figure median_of(const std::vector<RequestRecord>& requests,
                 const std::function<Figure(const RequestRecord&)>& figure) {
  std::vector<double> values;
  for (const RequestRecord& request : requests) {
    Figure one = figure(request);
    if (!one.value) return one;  // a median over some of the requests would be a median of other requests
    values.push_back(*one.value);
  }
  const auto middle = median(std::move(values));
  return middle ? Figure::of(*middle) : Figure::none("no_requests");
}

Figure ms_of(const std::optional<Nanos>& time, const char* reason) {
  return time ? Figure::of(to_ms(*time)) : Figure::none(reason);
}

Figure event_gap(const RequestRecord& request) {
  // What came in one piece has no gaps of the server's making.
  for (const char* reason : {"burst", "zero_window", stream::kTooFast}) {
    if (request.decode_tok_s.reason == reason) return Figure::none(reason);
  }
  std::vector<double> gaps;
  for (std::size_t i = 1; i < request.events.size(); ++i)
    gaps.push_back(to_ms(request.events[i].at - request.events[i - 1].at));
  const auto middle = median(std::move(gaps));
  return middle ? Figure::of(*middle) : Figure::none("one_event");
}

Figure round_rate(const std::vector<RequestRecord>& requests) {
  double tokens = 0;
  std::optional<Nanos> first;
  std::optional<Nanos> last;
  for (const RequestRecord& request : requests) {
    if (!request.completion_tokens) return Figure::none("no_usage");
    if (!request.end) return Figure::none("no_end");
    if (request.e2e_tok_s.reason == stream::kTooFast) return request.e2e_tok_s;
    tokens += static_cast<double>(*request.completion_tokens);
    first = std::min(first.value_or(request.sent), request.sent);
    last = std::max(last.value_or(request.sent + *request.end), request.sent + *request.end);
  }
  if (!first || *last <= *first) return Figure::none("zero_window");
  if (tokens == 0) return Figure::none("no_tokens");
  return Figure::of(tokens / to_s(*last - *first));
}

Figure steps_per_second(const Sample& sample, const Figure& decode) {
  if (sample.concurrency != 1) return Figure::none("concurrency_above_1");
  if (!decode.value) return decode;
  if (!sample.acceptance.value) return Figure::none(sample.acceptance.reason);
  const engine::Acceptance& a = *sample.acceptance.value;
  return Figure::of(*decode.value / (1 + a.k_eff * a.raw));
}

}  // namespace

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

int most_at_once(const std::vector<stream::RequestRecord>& requests) {
  std::vector<std::pair<Nanos, int>> changes;
  for (const stream::RequestRecord& record : requests) {
    if (!record.end || record.sent == 0) continue;
    changes.emplace_back(record.sent, 1);
    changes.emplace_back(record.sent + *record.end, -1);
  }
  std::sort(changes.begin(), changes.end());
  int now = 0, most = 0;
  for (const auto& [at, change] : changes) most = std::max(most, now += change);
  return most;
}

bool Sample::ok() const {
  return !requests.empty() && std::all_of(requests.begin(), requests.end(), [](const auto& r) { return r.ok(); });
}

void fill_metrics(Sample* sample) {
  auto& m = sample->metrics;
  const auto& requests = sample->requests;
  m["decode_tok_s"] = median_of(requests, [](const auto& r) { return r.decode_tok_s; });
  m["decode_tok_s_n_minus_1"] = median_of(requests, [](const auto& r) { return r.decode_tok_s_n_minus_1; });
  m["tpot_ms"] = median_of(requests, [](const auto& r) { return r.tpot_ms; });
  m["ttft_ms"] = median_of(requests, [](const auto& r) { return ms_of(r.ttft, "no_token_event"); });
  m["ttfr_ms"] = median_of(requests, [](const auto& r) { return ms_of(r.ttfr, "no_event"); });
  m["itl_event_ms"] = median_of(requests, event_gap);
  m["prefill_tok_s"] = median_of(requests, [](const auto& r) { return r.prefill_tok_s; });
  m["e2e_tok_s"] = median_of(requests, [](const auto& r) { return r.e2e_tok_s; });
  m["round_tok_s"] = round_rate(requests);
  m["step_s"] = steps_per_second(*sample, m["decode_tok_s"]);
  if (sample->ok()) return;
  const char* reason = requests.empty() ? "no_requests" : "request_failed";
  for (auto& [name, figure] : m) figure = Figure::none(reason);
}

}  // namespace bk::load
