#pragma once
#include <optional>
#include <vector>

#include "stats/least_squares.h"

namespace bk::stats {

/// How much of an arm effect a single step between two boots could have made, as far as the boots show such a step
/// beyond boot noise. Drift and step fit a short bracket equally well, but give the candidate different shares of it.
struct StepCheck {
  std::optional<double> p;     ///< of the most significant step, not corrected for the number of places
  std::optional<double> step;  ///< its size
  double room = 0;             ///< added to the half width before an effect is called; 0: no sign of a step
};

/// Below this p a step begins to count: late enough to leave quiet boots alone, early enough that a 3 % step at 1 % of
/// boot noise is seen more often than not. Source: `bracket calibrate`.
inline constexpr double kStepAlpha = 0.10;
/// How fast the room grows with the shift that a step beyond noise would explain. Source: `bracket calibrate`.
inline constexpr double kStepWeight = 2.0;

/// Fits value = arms + step for every place between two boots.
/// @param arms  the model without drift, one of its terms named "arm". shape: columns of one number a boot, in time
/// order.  @param effect  that term's coefficient in the model with drift.  @param sd  of one boot, with `df` degrees
/// of freedom.
[[nodiscard]] StepCheck check_step(const std::vector<Term>& arms, const std::vector<double>& values, double effect,
                                   double sd, double df);

}  // namespace bk::stats
