#pragma once
#include <optional>
#include <vector>

#include "stats/assess.h"

namespace bk::stats {

/// The chance with which a plan is asked to call an effect: the convention of clinical trials.
inline constexpr double kPower = 0.8;

/// What a plan brings to the arm effect.
struct Design {
  double boot_sd = 0;            ///< of one boot's number, sampling included, log scale
  double unscaled_variance = 0;  ///< of the arm effect, in boots
  double df = 0;                 ///< of the boot variance: the bracket's own and history's
};

/// @param more_df  what history adds.  Nothing when the order cannot tell arm from drift, or no degree of freedom is
/// there.
[[nodiscard]] std::optional<Design> design_of(const std::vector<Arm>& order, double boot_sd, double more_df,
                                              const Rules& rules);

/// The same of a contrast among the variants of a family. shape: one variant a boot, in time order.
[[nodiscard]] std::optional<Design> design_of(const std::vector<int>& variants, const Contrast& contrast,
                                              double boot_sd, double more_df, const Rules& rules);

/// The chance that an effect of this size is called better (or worse): its interval clears the band and p < alpha, the
/// variance being estimated with `df` degrees of freedom. Integrates over the distribution of that estimate.
/// @param effect  log scale, either sign.
[[nodiscard]] double chance_to_call(double effect, const Design& design, const Rules& rules);

/// A factor of a million, on the log scale: whoever could not call that calls nothing.
inline constexpr double kLargestEffect = 13.8155;

/// The smallest effect (log scale, positive) that is called with kPower. Nothing when the degrees of freedom are too
/// few (a fraction of one, as history of little weight leaves them) to call even kLargestEffect.
[[nodiscard]] std::optional<double> resolution(const Design& design, const Rules& rules);

}  // namespace bk::stats
