#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "stream/record.h"

/// The figures of llama-benchy 0.4.0, as it defines them, and the correct ones where they mislead. Pure.
namespace bk::benchy {

struct Arrival {
  double at_s = 0;
  std::int64_t tokens = -1;  ///< -1: the server does not say
};

/// One request that ended well. Times in seconds on one clock.
struct Observed {
  double start_s = 0;
  std::optional<double> first_response_s;  ///< first event with a choice: a role chunk counts
  std::optional<double> first_content_s;
  std::vector<Arrival> arrivals;            ///< token-bearing events
  std::int64_t expected_prompt_tokens = 0;  ///< what was sent, template aside
  std::optional<std::int64_t> usage_prompt_tokens, usage_completion_tokens;
};
[[nodiscard]] Observed observe(const stream::RequestRecord& record, std::int64_t expected_prompt_tokens);

/// When each token came: token ids spread evenly since the arrival before, those of the first arrival at its own time;
/// without ids, the usage's count spread evenly from first to last arrival; without that, one token an arrival.
[[nodiscard]] std::vector<double> token_times(const Observed& request);
/// The usage's count when it is within 20 % of the expected one, else the expected one.
[[nodiscard]] std::int64_t prompt_tokens(const Observed& request);
/// Most tokens within one second; for a shorter stream tokens / duration, one gap too few (the compatible figure).
[[nodiscard]] std::optional<double> compatible_peak(std::vector<double> times);
/// Most tokens within one second; nothing for a shorter stream.
[[nodiscard]] std::optional<double> true_peak(std::vector<double> times);

/// One batch of requests at once: totals, and a value a request.
struct BatchFigures {
  std::optional<double> pp_total, tg_total, peak_total;
  std::vector<double> pp_req, tg_req, peak_req, ttfr_ms, est_ppt_ms, e2e_ttft_ms;
};
[[nodiscard]] BatchFigures figures_of(const std::vector<Observed>& requests, double latency_s);

[[nodiscard]] double mean_of(const std::vector<double>& values);           ///< 0 for none
[[nodiscard]] double population_sd_of(const std::vector<double>& values);  ///< 0 for none

}  // namespace bk::benchy
