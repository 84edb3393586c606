#include "stats/acc_fit.h"

#include <algorithm>

#include "stats/least_squares.h"

namespace bk::stats {

double legacy_from_raw(double raw, double k) { return raw * 2 * k / (k + 1); }
double raw_from_legacy(double legacy, double k) { return legacy * (k + 1) / (2 * k); }

Result<AccFit> acc_fit(const std::vector<AccPoint>& points) {
  constexpr std::size_t kFewest = 3;
  constexpr double kLeastSpread = 0.001;
  if (points.size() < kFewest) {
    return fail(Errc::kInconclusive, fmt::format("acc=50 needs at least 3 samples, not {}", points.size()));
  }
  Term constant{"constant", std::vector<double>(points.size(), 1.0)};
  Term acceptance{"acceptance", {}};
  std::vector<double> values;
  for (const AccPoint& p : points) {
    acceptance.column.push_back(p.acceptance_legacy);
    values.push_back(p.value);
  }
  const auto [low, high] = std::minmax_element(acceptance.column.begin(), acceptance.column.end());
  if (!(*high - *low >= kLeastSpread)) {
    return fail(Errc::kInconclusive, "acc=50 needs samples that differ in acceptance by at least 0.1 points");
  }
  BK_ASSIGN(const Fit fit, least_squares({constant, acceptance}, values));
  if (fit.rank < 2) return fail(Errc::kInconclusive, "acc=50 needs samples that differ in acceptance");
  const double intercept = *fit.coefficients[0].value, slope = *fit.coefficients[1].value;
  return AccFit{slope / 100, intercept + slope * 0.50, intercept + slope * 0.55, fit.sigma.value_or(0), fit.n};
}

}  // namespace bk::stats
