#pragma once
#include <vector>

#include "stats/least_squares.h"

namespace bk::stats {

/// A question about several arms: the weight of each variant's mean on the log scale, 0 the base. Weights sum to 0;
/// variants beyond the end have none. {-1, 1}: the candidate against base.
using Contrast = std::vector<double>;

inline const Contrast kCandAgainstBase{-1, 1};

/// Variant `other` against variant `reference`.
[[nodiscard]] Contrast difference(int other, int reference);
/// What a combined arm does beyond the sum of its single arms: combined - base - sum of (single - base).
[[nodiscard]] Contrast interaction(int combined, const std::vector<int>& singles);

[[nodiscard]] double weight_of(const Contrast& contrast, int variant);
/// Whether every variant with a weight has a boot.
[[nodiscard]] bool has_every_arm(const std::vector<int>& variants, const Contrast& contrast);

/// Columns of a model with one level for each variant, turned so that the contrast itself is the coefficient of the
/// last term, "arm". For base and candidate these are the constant and the candidate's indicator.
/// @param variants  one a boot, every arm of the contrast among them.
[[nodiscard]] std::vector<Term> arm_terms(const std::vector<int>& variants, const Contrast& contrast);

}  // namespace bk::stats
