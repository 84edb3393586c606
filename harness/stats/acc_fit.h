#pragma once
#include <vector>

#include "base/result.h"

namespace bk::stats {

/// One C = 1 sample: its rate and the draft acceptance in the legacy convention, as a fraction (0.50 = "acc=50").
struct AccPoint {
  double acceptance_legacy = 0;
  double value = 0;
};

/// value = a + slope·acceptance over one leg, read at the ledger's two anchors.
struct AccFit {
  double slope_per_point = 0;  ///< change of the value per percentage point of legacy acceptance
  double at_50 = 0, at_55 = 0;
  double sigma = 0;  ///< sqrt(rss / (n - 2))
  int n = 0;
};

/// The ledger's acc = 50 normalisation. kInconclusive with the reason when n < 3 or the acceptance has no spread
/// (less than 0.1 points between least and greatest): the line then has no slope.
[[nodiscard]] Result<AccFit> acc_fit(const std::vector<AccPoint>& points);

/// legacy = raw · 2k / (k + 1): the older ledger counted drafts in the denominator too. k: drafted length that ran.
[[nodiscard]] double legacy_from_raw(double raw, double k);
[[nodiscard]] double raw_from_legacy(double legacy, double k);

}  // namespace bk::stats
