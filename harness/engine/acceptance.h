#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stream/record.h"

namespace bk::engine {

/// The counters of one metrics page, summed over engines (DP ranks) by exact name. Absent ones are absent, not 0.
struct Counters {
  std::optional<double> drafts, draft_tokens, accepted_tokens;  ///< N, D, A
  std::map<int, double> accepted_per_position;                  ///< A_i
  std::optional<double> generation_tokens, prompt_tokens;
  std::optional<double> engine_steps;                           ///< iterations of the engine
  std::optional<double> running, waiting;                       ///< gauges
  std::optional<double> process_start_s;                        ///< process start time, or a counter's _created
  std::string dialect;                                          ///< "vllm", "llamacpp", "sglang", or empty
};

/// Draft acceptance over a sample (DESIGN 4): N drafts, D draft tokens, A accepted.
struct Acceptance {
  double drafts = 0, draft_tokens = 0, accepted = 0;
  double raw = 0;                    ///< A / D
  double legacy = 0;                 ///< raw * 2k / (k + 1) with k = k_eff: the older ledger's convention
  double tokens_per_step = 0;        ///< 1 + A / N
  double k_eff = 0;                  ///< D / N
  std::vector<double> per_position;  ///< A_i / N, i from 0
};

/// The delta of two pages, or nothing and the reason: "metrics_unavailable", "counter_missing", "counter_reset",
/// "engine_restarted", "no_drafts".
struct AcceptanceDelta {
  std::optional<Acceptance> value;
  std::string reason;
  std::vector<std::string> resets;   ///< counters that went down
};
[[nodiscard]] AcceptanceDelta acceptance_between(const std::optional<Counters>& before, const std::optional<Counters>& after);

}  // namespace bk::engine
