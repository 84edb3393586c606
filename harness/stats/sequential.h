#pragma once
#include <vector>

#include "base/result.h"

namespace bk::stats {

/// The alpha that each look of an extended bracket may use, so that all looks together stay within `alpha`: little at
/// first, most of it at the last look, and valid for whatever looks were declared.
/// Spending function 4·(1 - Φ(z / √t)), z of alpha / 4. Source: Lan and DeMets, "Discrete sequential boundaries for
/// clinical trials", Biometrika 70 (1983); the crossing probabilities by Armitage, McPherson and Rowe's recursion
/// (1969).
/// @param fractions  of the boots in all, rising, the last one 1.  shape: one a look
/// @return  two-sided alpha of each look.  kUsage for fractions that do not rise to 1, or an alpha outside (0, 1).
[[nodiscard]] Result<std::vector<double>> look_alphas(const std::vector<double>& fractions, double alpha);

}  // namespace bk::stats
