#include "stats/power.h"

#include <algorithm>
#include <cmath>

#include "stats/least_squares.h"
#include "stats/student.h"

namespace bk::stats {
namespace {

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

/// Density of an estimated deviation in units of the true one: the root of chi-square over its degrees of freedom.
double deviation_density(double s, double df) {
  if (s <= 0) return 0;
  return std::exp(std::log(2.0) + 0.5 * df * std::log(0.5 * df) - std::lgamma(0.5 * df) + (df - 1) * std::log(s) -
                  0.5 * df * s * s);
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

double chance_to_call(double effect, const Design& design, const Rules& rules) {
  constexpr int kSteps = 400;
  const double se = design.boot_sd * std::sqrt(design.unscaled_variance);
  const double size = std::fabs(effect), band = std::log1p(rules.band);
  if (!(se > 0)) return size > band ? 1 : 0;
  const double half = t_quantile(1 - rules.alpha / 2, design.df);
  // At equal acceptance a share of alpha is spent on the question whether acceptance moved.
  const double least = t_quantile(1 - (1 - kAcceptanceShare) * rules.alpha / 2, design.df);
  const double widest = 1 + 6 / std::sqrt(design.df), step = widest / kSteps;
  double chance = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double s = (i + 0.5) * step;
    const double needed = std::max(half * s * se + band, least * s * se);
    chance += step * deviation_density(s, design.df) * normal_cdf((size - needed) / se);
  }
  return std::min(1.0, chance);
}

double resolution(const Design& design, const Rules& rules) {
  double low = std::log1p(rules.band), high = low + design.boot_sd * std::sqrt(design.unscaled_variance);
  while (chance_to_call(high, design, rules) < kPower) high = low + 2 * (high - low);
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (chance_to_call(middle, design, rules) < kPower ? low : high) = middle;
  }
  return high;
}

}  // namespace bk::stats
