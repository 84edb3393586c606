#include "stats/least_squares.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace bk::stats {
namespace {

using Decomposition = Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd>;

/// Relative size under which a pivot counts as zero: far above rounding, far below any design worth fitting.
constexpr double kRankTolerance = 1e-10;

Decomposition decompose(const Eigen::MatrixXd& x) {
  Decomposition d;
  d.setThreshold(kRankTolerance);
  d.compute(x);
  return d;
}

Status check_input(const std::vector<Term>& terms, const std::vector<double>& y) {
  const auto finite = [](double v) { return std::isfinite(v); };
  if (y.empty()) return fail(Errc::kUsage, "least squares needs at least one row");
  if (terms.empty()) return fail(Errc::kUsage, "least squares needs at least one term");
  if (!std::all_of(y.begin(), y.end(), finite)) return fail(Errc::kUsage, "a response is not a finite number");
  for (const Term& term : terms) {
    if (term.column.size() != y.size()) {
      return fail(Errc::kUsage, fmt::format("{} rows for {} responses", term.column.size(), y.size()), term.name);
    }
    if (!std::all_of(term.column.begin(), term.column.end(), finite)) {
      return fail(Errc::kUsage, "a regressor is not a finite number", term.name);
    }
  }
  return {};
}

/// Columns scaled to length 1, so that the rank does not depend on anybody's units. Zero columns stay zero.
Eigen::MatrixXd scaled_design(const std::vector<Term>& terms, Eigen::Index rows, Eigen::VectorXd& scale) {
  Eigen::MatrixXd x(rows, static_cast<Eigen::Index>(terms.size()));
  scale.resize(x.cols());
  for (Eigen::Index j = 0; j < x.cols(); ++j) {
    x.col(j) = Eigen::Map<const Eigen::VectorXd>(terms[static_cast<std::size_t>(j)].column.data(), rows);
    const double norm = x.col(j).norm();
    scale(j) = norm > 0 ? norm : 1;
    x.col(j) /= scale(j);
  }
  return x;
}

/// A column is determined when leaving it out lowers the rank.
bool determined(const Eigen::MatrixXd& x, Eigen::Index column, Eigen::Index rank) {
  if (rank == x.cols()) return true;
  Eigen::MatrixXd rest(x.rows(), x.cols() - 1);
  rest << x.leftCols(column), x.rightCols(x.cols() - 1 - column);
  return rest.cols() == 0 ? rank > 0 : decompose(rest).rank() < rank;
}

}  // namespace

const Coefficient* Fit::find(const std::string& name) const {
  const auto it = std::find_if(coefficients.begin(), coefficients.end(), [&](const auto& c) { return c.name == name; });
  return it == coefficients.end() ? nullptr : &*it;
}

Result<Fit> least_squares(const std::vector<Term>& terms, const std::vector<double>& y) {
  BK_TRY(check_input(terms, y));
  const auto rows = static_cast<Eigen::Index>(y.size());
  Eigen::VectorXd scale;
  const Eigen::MatrixXd x = scaled_design(terms, rows, scale);
  const Eigen::Map<const Eigen::VectorXd> response(y.data(), rows);
  const Decomposition decomposition = decompose(x);
  const Eigen::MatrixXd inverse = decomposition.pseudoInverse();
  const Eigen::VectorXd beta = inverse * response;
  const Eigen::VectorXd residual = response - x * beta;

  Fit fit;
  fit.n = static_cast<int>(rows);
  fit.rank = static_cast<int>(decomposition.rank());
  fit.df = fit.n - fit.rank;
  // With no freedom left the residuals are rounding; calling them a sum of squares would invent a variance.
  fit.rss = fit.df > 0 ? residual.squaredNorm() : 0;
  if (fit.df > 0) fit.sigma = std::sqrt(fit.rss / fit.df);
  fit.residuals.assign(residual.data(), residual.data() + residual.size());
  for (Eigen::Index j = 0; j < x.cols(); ++j) {
    Coefficient c;
    c.name = terms[static_cast<std::size_t>(j)].name;
    if (determined(x, j, decomposition.rank())) {
      c.value = beta(j) / scale(j);
      c.unscaled_variance = inverse.row(j).squaredNorm() / (scale(j) * scale(j));
      if (fit.sigma) c.se = *fit.sigma * std::sqrt(c.unscaled_variance);
    } else {
      fit.aliased.push_back(c.name);
    }
    fit.coefficients.push_back(std::move(c));
  }
  return fit;
}

}  // namespace bk::stats
