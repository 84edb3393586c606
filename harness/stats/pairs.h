#pragma once
#include <optional>
#include <vector>

#include "stats/assess.h"

namespace bk::stats {

/// Two samples taken right after one another, in random order.
struct Pair {
  SampleValue base, cand;
};

/// What pairs say beside an assessment.
struct PairCheck {
  std::optional<double> sign_flip_p;  ///< of the mean raw difference; nothing for fewer than 2 pairs
  bool exact = false;                 ///< every assignment of signs was counted; else kFlips random ones
  int pairs = 0, excluded = 0;        ///< excluded: a value that is not finite or not positive
  bool boots_counted = false;         ///< two live boots: their difference is in the interval
};

/// Up to this many pairs the sign-flip test counts all assignments.
inline constexpr int kExactPairs = 16;
inline constexpr int kFlips = 65'536;

/// The sign-flip test: how often a mean as far from 0 comes out when each difference's sign is thrown anew. It supposes
/// nothing but symmetry. Source: Fisher, The Design of Experiments (1935), section 21.
/// @param exact  told whether all assignments were counted.  Nothing for fewer than 2 differences.
[[nodiscard]] std::optional<double> sign_flip_p(const std::vector<double>& differences, bool& exact);

struct PairAssessment {
  Assessment assessment;  ///< boots_needed counts pairs
  PairCheck check;
};

/// A knob that is switched inside one boot, judged by the pair as unit: Huber's mean of the differences of logs, and
/// the same at equal acceptance by a line through the differences. Pairs leave no room for drift.
/// @param boot  of one boot's own deviation: given when the arms are two live boots side by side. Interleaving removes
/// drift and not the difference between two boots, so twice this variance enters the interval. With df = 0 (nothing
/// known) there is no interval: reason "boot_variance_unknown".
[[nodiscard]] PairAssessment assess_pairs(const std::vector<Pair>& pairs, const Rules& rules,
                                          const std::optional<BootVariance>& boot);

}  // namespace bk::stats
