#include "formulas.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bk::benchy {
namespace {

constexpr double kWindow_s = 1.0;

std::optional<double> duration_of(const std::vector<double>& times) {
  if (times.size() < 2 || times.back() <= times.front()) return std::nullopt;
  return times.back() - times.front();
}

/// Tokens after the first time stamp; those that share it came before the window began.
std::int64_t later_than_first(const std::vector<double>& times) {
  return std::count_if(times.begin(), times.end(), [&times](double t) { return t > times.front(); });
}

double most_in_window(const std::vector<double>& times) {
  std::size_t most = 0, from = 0;
  for (std::size_t to = 0; to < times.size(); ++to) {
    while (times[to] - times[from] > kWindow_s) ++from;
    most = std::max(most, to - from + 1);
  }
  return static_cast<double>(most) / kWindow_s;
}

std::vector<double> spread(double first, double last, std::int64_t count) {
  std::vector<double> times;
  for (std::int64_t i = 0; i < count; ++i) {
    const double share = count == 1 ? 0.0 : static_cast<double>(i) / static_cast<double>(count - 1);
    times.push_back(i + 1 == count ? last : first + share * (last - first));
  }
  return times;
}

void add(std::vector<double>& values, const std::optional<double>& value) {
  if (value) values.push_back(*value);
}

/// One request's own values; its token times are added to the batch's.
struct Gathered {
  std::vector<double> all_times;
  std::int64_t prompt = 0, later = 0;
  double first_start = 0, last_first_content = 0;
  bool any_content = false;
};

void gather(const Observed& request, double latency_s, BatchFigures& out, Gathered& all) {
  const std::int64_t prompt = prompt_tokens(request);
  if (request.first_response_s) {
    const double ttfr = *request.first_response_s - request.start_s;
    const double est_ppt = std::max(0.0, ttfr - latency_s);
    out.ttfr_ms.push_back(ttfr * 1e3);
    out.est_ppt_ms.push_back(est_ppt * 1e3);
    if (est_ppt > 0) out.pp_req.push_back(static_cast<double>(prompt) / est_ppt);
  }
  if (request.first_content_s) {
    out.e2e_ttft_ms.push_back((*request.first_content_s - request.start_s) * 1e3);
    all.last_first_content = std::max(all.last_first_content, *request.first_content_s);
    all.any_content = true;
    all.prompt += prompt;
  }
  const std::vector<double> times = token_times(request);
  if (const auto duration = duration_of(times)) {
    const std::int64_t later = later_than_first(times);
    out.tg_req.push_back(static_cast<double>(later) / *duration);
    all.later += later;
  }
  add(out.peak_req, compatible_peak(times));
  all.all_times.insert(all.all_times.end(), times.begin(), times.end());
}

}  // namespace

Observed observe(const stream::RequestRecord& record, std::int64_t expected_prompt_tokens) {
  Observed request;
  request.start_s = to_s(record.sent);
  const auto absolute = [&record](const std::optional<Nanos>& t) {
    return t ? std::optional<double>(to_s(record.sent + *t)) : std::nullopt;
  };
  request.first_response_s = absolute(record.ttfr);
  request.first_content_s = absolute(record.ttft);
  for (const stream::TokenEvent& event : record.events) {
    request.arrivals.push_back({to_s(record.sent + event.at), event.tokens});
  }
  request.expected_prompt_tokens = expected_prompt_tokens;
  if (record.usage) {
    request.usage_prompt_tokens = record.usage->prompt_tokens;
    request.usage_completion_tokens = record.usage->completion_tokens;
  }
  return request;
}

std::vector<double> token_times(const Observed& request) {
  const auto& arrivals = request.arrivals;
  if (arrivals.empty()) return {};
  const bool ids = std::all_of(arrivals.begin(), arrivals.end(), [](const Arrival& a) { return a.tokens >= 0; });
  if (!ids && request.usage_completion_tokens) {
    return spread(arrivals.front().at_s, arrivals.back().at_s, *request.usage_completion_tokens);
  }
  std::vector<double> times;
  double before = arrivals.front().at_s;
  for (const Arrival& arrival : arrivals) {
    const std::int64_t count = ids ? arrival.tokens : 1;
    for (std::int64_t i = 1; i < count; ++i) {
      times.push_back(before + static_cast<double>(i) / static_cast<double>(count) * (arrival.at_s - before));
    }
    if (count > 0) times.push_back(arrival.at_s);
    before = arrival.at_s;
  }
  return times;
}

std::int64_t prompt_tokens(const Observed& request) {
  const std::int64_t expected = request.expected_prompt_tokens;
  if (!request.usage_prompt_tokens) return expected;
  const double apart = std::abs(static_cast<double>(*request.usage_prompt_tokens - expected));
  return apart <= 0.2 * static_cast<double>(expected) ? *request.usage_prompt_tokens : expected;
}

std::optional<double> compatible_peak(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto duration = duration_of(times);
  if (!duration) return std::nullopt;
  if (*duration < kWindow_s) return static_cast<double>(times.size()) / *duration;
  return most_in_window(times);
}

std::optional<double> true_peak(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto duration = duration_of(times);
  if (!duration || *duration < kWindow_s) return std::nullopt;
  return most_in_window(times);
}

BatchFigures figures_of(const std::vector<Observed>& requests, double latency_s) {
  BatchFigures out;
  if (requests.empty()) return out;
  Gathered all;
  all.first_start = requests.front().start_s;
  for (const Observed& request : requests) all.first_start = std::min(all.first_start, request.start_s);
  for (const Observed& request : requests) gather(request, latency_s, out, all);
  out.peak_total = compatible_peak(all.all_times);
  if (requests.size() == 1) {
    if (!out.pp_req.empty()) out.pp_total = out.pp_req.front();
    if (!out.tg_req.empty()) out.tg_total = out.tg_req.front();
    return out;
  }
  if (all.any_content && all.last_first_content > all.first_start) {
    out.pp_total = static_cast<double>(all.prompt) / (all.last_first_content - all.first_start);
  }
  std::sort(all.all_times.begin(), all.all_times.end());
  if (const auto duration = duration_of(all.all_times)) out.tg_total = static_cast<double>(all.later) / *duration;
  return out;
}

double mean_of(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double population_sd_of(const std::vector<double>& values) {
  if (values.empty()) return 0;
  const double mean = mean_of(values);
  double sum = 0;
  for (const double v : values) sum += (v - mean) * (v - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

}  // namespace bk::benchy
