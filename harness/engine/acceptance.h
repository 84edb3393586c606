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
  std::optional<double> generation_s, prompt_s;         ///< seconds spent on them (llama.cpp)
  std::optional<double> engine_steps;                   ///< iterations of the engine
  std::optional<double> running, waiting;               ///< gauges
  std::optional<double> busy_slots;                     ///< gauge, llama.cpp: slots per decode call
  std::optional<double> process_start_s;                ///< process start time
  std::map<std::string, double> accept_length_by_rank;  ///< gauge, SGLang: dp_rank -> acceptance length
  std::string dialect;                                  ///< "vllm", "llamacpp", "sglang", or empty

  /// Every series behind the sums, and its _created stamp, so that one engine's restart is seen although the sum grew.
  std::map<std::string, double> series, created;
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
/// "engine_restarted", "no_drafts", "counters_disagree" (more accepted than drafted).
struct AcceptanceDelta {
  std::optional<Acceptance> value;
  std::string reason;
  std::vector<std::string> resets;  ///< series that went down or were created anew
};
[[nodiscard]] AcceptanceDelta acceptance_between(const std::optional<Counters>& before,
                                                 const std::optional<Counters>& after);

/// What kept counting from one page to the next, for any pair of pages.
struct Continuity {
  std::vector<std::string> resets;  ///< series that went down or were created anew
  bool restarted = false;           ///< the process start time or a _created stamp changed
  bool vanished = false;            ///< a series of the first page is not in the second
  [[nodiscard]] bool unbroken() const { return resets.empty() && !restarted && !vanished; }
};
[[nodiscard]] Continuity continuity_between(const Counters& before, const Counters& after);

/// after - before of one counter, or the reason why there is none; the reasons are those of AcceptanceDelta.
[[nodiscard]] stream::Figure delta_between(const std::optional<double>& before, const std::optional<double>& after,
                                           const Continuity& continuity);

/// Rates that the server's own clocks give for the interval (llama.cpp): tokens / seconds spent on them.
struct IntervalRates {
  stream::Figure decode_tok_s, prompt_tok_s;
};
[[nodiscard]] IntervalRates rates_between(const Counters& before, const Counters& after);

}  // namespace bk::engine
