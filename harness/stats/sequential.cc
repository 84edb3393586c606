#include "stats/sequential.h"

#include <cmath>

namespace bk::stats {
namespace {

double upper_normal(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

/// The z >= 0 with an upper tail of `tail`.
double normal_quantile(double tail) {
  double low = 0, high = 40;
  for (int i = 0; i < 100; ++i) {
    const double z = 0.5 * (low + high);
    (upper_normal(z) > tail ? low : high) = z;
  }
  return low;
}

/// Half of alpha on each side.
double spent(double fraction, double alpha) {
  return 4 * upper_normal(normal_quantile(alpha / 4) / std::sqrt(fraction));
}

/// The density of Brownian motion at the last look, over paths that no look has stopped.
struct Paths {
  std::vector<double> at, density;
  double step = 0;

  /// P(the path leaves [-bound, bound] at a time `more` later).
  [[nodiscard]] double crossing(double more, double bound) const {
    double p = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      p += density[i] * step *
           (upper_normal((bound - at[i]) / std::sqrt(more)) + upper_normal((bound + at[i]) / std::sqrt(more)));
    }
    return p;
  }

  void go_on(double more, double bound) {
    constexpr int kPoints = 400;
    Paths next;
    next.step = 2 * bound / kPoints;
    for (int k = 0; k < kPoints; ++k) {
      const double x = -bound + (k + 0.5) * next.step;
      double sum = 0;
      for (std::size_t i = 0; i < at.size(); ++i) {
        const double z = x - at[i];
        sum += density[i] * step * std::exp(-0.5 * z * z / more) / std::sqrt(2 * M_PI * more);
      }
      next.at.push_back(x);
      next.density.push_back(sum);
    }
    *this = std::move(next);
  }
};

}  // namespace

Result<std::vector<double>> look_alphas(const std::vector<double>& fractions, double alpha) {
  if (!(alpha > 0 && alpha < 1)) return fail(Errc::kUsage, "alpha has to lie between 0 and 1");
  if (fractions.empty() || fractions.back() != 1) return fail(Errc::kUsage, "the last look has to be at all boots");
  Paths paths{{0.0}, {1.0}, 1.0};
  std::vector<double> out;
  double before = 0, gone = 0;
  for (const double fraction : fractions) {
    if (!(fraction > before)) return fail(Errc::kUsage, "looks have to come at rising numbers of boots");
    const double due = spent(fraction, alpha) - gone, more = fraction - before;
    double low = 0, high = 40;
    for (int i = 0; i < 60; ++i) {
      const double bound = 0.5 * (low + high);
      (paths.crossing(more, bound) > due ? low : high) = bound;
    }
    out.push_back(2 * upper_normal(low / std::sqrt(fraction)));
    paths.go_on(more, low);
    before = fraction;
    gone += due;
  }
  return out;
}

}  // namespace bk::stats
