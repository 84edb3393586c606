#include "stats/power.h"

#include <algorithm>
#include <cmath>

#include "stats/least_squares.h"
#include "stats/student.h"

namespace bk::stats {
namespace {

/// With fewer degrees of freedom, quantile and estimate leave the range of numbers, and nothing is ever called.
constexpr double kLeastDf = 0.05;

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

/// One value that an estimated deviation may take, in units of the true one, and the share of estimates near it.
struct Deviation {
  double size = 0, share = 0;
};

/// The distribution of an estimated deviation, the root of chi-square over its degrees of freedom, in steps. Few
/// degrees of freedom pile it up at zero and many make it narrow, so the steps are equal in a power of it that has no
/// pole, and lie where the estimate can be; the shares are made to sum to one.
std::vector<Deviation> deviations(double df) {
  constexpr int kSteps = 400;
  const double power = std::max(1.0, 2 / df);
  const double reach = 6 / std::sqrt(df);
  const double from = std::pow(std::max(0.0, 1 - reach), 1 / power), to = std::pow(1 + reach, 1 / power);
  std::vector<Deviation> steps;
  std::vector<double> logs;
  for (int i = 0; i < kSteps; ++i) {
    const double v = from + (i + 0.5) * (to - from) / kSteps, log_size = power * std::log(v);
    const double size = std::exp(log_size);
    logs.push_back(df * log_size - std::log(v) - 0.5 * df * size * size);
    steps.push_back({size, 0});
  }
  const double most = *std::max_element(logs.begin(), logs.end());
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) sum += steps[i].share = std::exp(logs[i] - most);
  for (Deviation& step : steps) step.share /= sum;
  return steps;
}

}  // namespace

std::optional<Design> design_of(const std::vector<Arm>& order, double boot_sd, double more_df, const Rules& rules) {
  std::vector<int> variants;
  variants.reserve(order.size());
  for (const Arm arm : order) variants.push_back(arm == Arm::kCand ? 1 : 0);
  return design_of(variants, kCandAgainstBase, boot_sd, more_df, rules);
}

std::optional<Design> design_of(const std::vector<int>& variants, const Contrast& contrast, double boot_sd,
                                double more_df, const Rules& rules) {
  if (!has_every_arm(variants, contrast)) return std::nullopt;
  std::vector<Term> terms = arm_terms(variants, contrast);
  if (rules.drift) {
    Term& drift = terms.emplace_back(Term{"drift", {}});
    for (std::size_t i = 0; i < variants.size(); ++i) drift.column.push_back(static_cast<double>(i));
  }
  const auto fit = least_squares(terms, std::vector<double>(variants.size(), 0.0));
  const Coefficient* arm = fit ? fit->find("arm") : nullptr;
  if (arm == nullptr || !arm->value || !(fit->df + more_df > 0)) return std::nullopt;
  return Design{boot_sd, arm->unscaled_variance, fit->df + more_df};
}

namespace {

/// Which effects a plan calls, whatever their size: all that is the same for each of them.
class Caller {
 public:
  Caller(const Design& design, const Rules& rules)
      : se_(design.boot_sd * std::sqrt(design.unscaled_variance)), band_(std::log1p(rules.band)) {
    if (!(se_ > 0) || design.df < kLeastDf) return;
    const double half = t_quantile(1 - rules.alpha / 2, design.df);
    // At equal acceptance a share of alpha is spent on the question whether acceptance moved.
    const double least = t_quantile(1 - (1 - kAcceptanceShare) * rules.alpha / 2, design.df);
    estimates_ = deviations(design.df);
    for (Deviation& s : estimates_) s.size = std::max(half * s.size * se_ + band_, least * s.size * se_);
  }
  [[nodiscard]] double chance(double size) const {
    if (!(se_ > 0)) return size > band_ ? 1 : 0;
    double chance = 0;
    for (const Deviation& needed : estimates_) chance += needed.share * normal_cdf((size - needed.size) / se_);
    return chance;
  }

 private:
  double se_, band_;
  std::vector<Deviation> estimates_;  ///< the size that is called at each estimate; none: nothing is
};

}  // namespace

double chance_to_call(double effect, const Design& design, const Rules& rules) {
  return Caller(design, rules).chance(std::fabs(effect));
}

std::optional<double> resolution(const Design& design, const Rules& rules) {
  const Caller caller(design, rules);
  double low = std::log1p(rules.band), high = kLargestEffect;
  if (caller.chance(high) < kPower) return std::nullopt;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (caller.chance(middle) < kPower ? low : high) = middle;
  }
  return high;
}

}  // namespace bk::stats
