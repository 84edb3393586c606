#pragma once
#include <optional>
#include <string>
#include <vector>

#include "stats/boot_values.h"

namespace bk::stats {

/// How often the historical rule calls a bracket without any effect resolved, boot noise alone.
/// Source: simulation of one base-cand-base with normal boot noise (sd 1 %), "gap > spread of the bases".
inline constexpr double kHistoricalFalseAlarmRate = 0.45;

/// The ledger's rule, kept for continuity: effect = cand / mean(bases) - 1, unresolved when |effect| is not larger than
/// the gap between the first and the last base. A leg's value is its least-squares value at acc = 50 where that can be
/// had for every leg, else the mean of its samples.
struct Historical {
  enum class Call { kGain, kLoss, kInconclusive, kNotABracket };
  std::optional<double> delta_pct;     ///< effect, signed as the metric moved
  std::optional<double> base_gap_pct;  ///< |b1 - b2| / mean(b1, b2)
  std::optional<double> drift_pct;     ///< b2 / b1 - 1, the gap's signed twin
  Call call = Call::kNotABracket;
  std::string reason;  ///< why it is not a bracket; empty otherwise
  bool at_acc50 = false;
  std::vector<double> leg_values;  ///< one a boot, in order
};
const char* to_string(Historical::Call call);  ///< "gain", "loss", "inconclusive", "not_a_bracket"

[[nodiscard]] Historical historical_rule(const std::vector<BootValues>& boots, Better better);

}  // namespace bk::stats
