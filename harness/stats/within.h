#pragma once
#include <optional>
#include <vector>

namespace bk::stats {

/// Numbers of one boot.
using Group = std::vector<double>;

/// The standard deviation of one sample about its boot, as far as a few stalled requests cannot move it: the median
/// distance of two samples of one boot, over all boots, in units of a normal distribution's. It needs no boot's own
/// level. Nothing when no boot has two samples. 0 when most samples of a boot are alike.
/// Source: Rousseeuw and Croux, "Alternatives to the median absolute deviation", JASA 88 (1993), on the median of
/// pairwise distances: 86 % efficient for normal values.
[[nodiscard]] std::optional<double> pair_scale(const std::vector<Group>& groups);

/// pair_scale() keeps this share of the degrees of freedom that a sum of squares would have.
inline constexpr double kPairEfficiency = 0.86;

/// Residuals beyond this many pair_scale() count as this far: Huber's compromise at 99.9 % efficiency for normal
/// values.
inline constexpr double kFarInScales = 2.5;
/// A sample further from its boot than this is reported as outlying; it stays in every estimate.
inline constexpr double kOutlyingInScales = 6;

/// x and y of the samples of one boot.
struct PairedGroup {
  Group x, y;
};

/// One line through all groups, each with a level of its own.
struct WithinLine {
  double slope = 0;
  double xx = 0;            ///< sum of squares of x within groups
  double variance = 0;      ///< of one winsorised residual, inflated for the share that was winsorised
  int df = 0;               ///< samples - groups - 1
  std::vector<Group> rest;  ///< y - slope·x of each sample, winsorised about its group's level. shape: as the groups
};

/// Huber's estimate of the common slope: least squares on values whose residuals are winsorised at kFarInScales, until
/// both agree. The standard error is that of the winsorised residuals over the share that was left alone.
/// Source: Huber, Robust Statistics (1981), sections 7.6 and 7.8 (modified residuals, K² s² / m²).
/// Nothing when df < 1 or x has no spread within groups.
[[nodiscard]] std::optional<WithinLine> within_line(const std::vector<PairedGroup>& groups);

/// Huber's mean of values about one level, winsorised at kFarInScales, and the variance of that mean.
struct RobustMean {
  double value = 0, variance = 0;
  int df = 0;
};
/// Nothing for fewer than 2 values.
[[nodiscard]] std::optional<RobustMean> robust_mean(const Group& values);

}  // namespace bk::stats
