#pragma once
#include <vector>

#include "stats/assess.h"
#include "stats/history.h"

/// Several arms that share base boots, judged together. All of it is one linear model over all boots,
/// log(value) = level of the arm + drift · position + boot noise, with the boot variance pooled over the arms and over
/// the profile's history; a question is a contrast among the levels.
namespace bk::stats {

/// A question, and what the boots say to it.
struct Comparison {
  Contrast contrast;
  double alpha = 0;  ///< the level that was left for it, which its interval has
  Assessment assessment;
};

/// Every contrast, so that the chance to call any of them without an effect stays within `rules.alpha`: each is asked
/// at alpha / n; what is called leaves the others at alpha / (n - called), until nothing more is called. That is Holm's
/// sequentially rejective procedure, valid whatever the contrasts have in common, and shared base boots are much.
/// Source: Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6 (1979).
/// Rules::history is taken from `history` for each contrast.
[[nodiscard]] std::vector<Comparison> assess_family(const std::vector<BootValues>& boots,
                                                    const std::vector<Contrast>& contrasts, const Rules& rules,
                                                    const std::vector<HistoryGroup>& history);

/// Which variant is best, and which may be.
struct Peak {
  Basis basis = Basis::kRaw;  ///< of all that follows: one curve needs one scale
  int best = 0;               ///< the variant that measured best
  std::vector<int> tied;      ///< ascending, `best` among them: not told from the best
  /// Each variant against base, all intervals together at 1 - alpha, so that the best one's holds although it was
  /// picked for being large. shape: one a variant; of the base and of variants without boots nothing is estimated.
  std::vector<Effect> curve;
};

/// The variant that measured best among `variants` and base, and those that it does not beat by a one-sided test at
/// alpha / n of the other variants. The truly best one is left out in at most alpha of sequences: for that a single
/// test against it has to err, and there are n of them.
/// Source: Hsu, "Constrained simultaneous confidence intervals for multiple comparisons with the best", Ann. Statist.
/// 12 (1984), with Bonferroni's quantile: the arms' variances differ, and its share grows slowly with n.
/// @param variants  those of the family besides base, with boots or without.
[[nodiscard]] Peak find_peak(const std::vector<BootValues>& boots, const std::vector<int>& variants, const Rules& rules,
                             const std::vector<HistoryGroup>& history);

}  // namespace bk::stats
