#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace bk::stats {

/// One column of the model, e.g. {"arm", {0, 1, 0, 1}}. Give the constant as a column of ones.
struct Term {
  std::string name;
  std::vector<double> column;
};

/// One estimated coefficient. Its standard error is sigma · sqrt(unscaled_variance).
struct Coefficient {
  std::string name;
  std::optional<double> value;   ///< nothing when the data cannot tell it apart from other terms
  double unscaled_variance = 0;  ///< (XᵀX)⁺ on the diagonal; 0 when there is no value
  std::optional<double> se;      ///< nothing without a degree of freedom
};

struct Fit {
  std::vector<Coefficient> coefficients;  ///< in the order of the terms
  int n = 0;
  int rank = 0;
  int df = 0;                        ///< n - rank
  double rss = 0;                    ///< residual sum of squares
  std::optional<double> sigma;       ///< sqrt(rss / df); nothing when df = 0
  std::vector<std::string> aliased;  ///< terms that cannot be told apart from one another; empty: full rank
  std::vector<double> residuals;
  [[nodiscard]] const Coefficient* find(const std::string& name) const;
};

/// Ordinary least squares by a column-pivoted orthogonal decomposition. A model of deficient rank is fitted all the
/// same; the coefficients that it leaves undetermined have no value and are named in `aliased`.
/// kUsage when columns differ in length from `y`, when there is no row or a number is not finite.
[[nodiscard]] Result<Fit> least_squares(const std::vector<Term>& terms, const std::vector<double>& y);

}  // namespace bk::stats
