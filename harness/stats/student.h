#pragma once

namespace bk::stats {

/// Regularised incomplete beta function I_x(a, b), by Lentz's continued fraction. a, b > 0, x in [0, 1].
/// Source: DLMF 8.17.22.
[[nodiscard]] double incomplete_beta(double a, double b, double x);

/// P(|T| >= |t|) of Student's t with `df` > 0 degrees of freedom (need not be whole).
[[nodiscard]] double t_two_sided_p(double t, double df);
/// P(T <= t).
[[nodiscard]] double t_cdf(double t, double df);
/// The t with P(T <= t) = p, p in (0, 1). t_quantile(0.975, 3) = 3.18244630528…
[[nodiscard]] double t_quantile(double p, double df);

}  // namespace bk::stats
