#include "stats/student.h"

#include <cmath>

#include "base/check.h"

namespace bk::stats {
namespace {

/// log of the Beta function. lgamma() writes the global signgam; its arguments here are positive, so nobody reads it.
double log_beta(double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }

/// Continued fraction of I_x(a, b) by the modified Lentz method; converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr double kEnough = 1e-16;
  constexpr int kMostTerms = 10'000;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  if (std::fabs(d) < kTiny) d = kTiny;
  d = 1 / d;
  double h = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double twice = 2.0 * m;
    const double terms[2] = {m * (b - m) * x / ((a + twice - 1) * (a + twice)),
                             -(a + m) * (a + b + m) * x / ((a + twice) * (a + twice + 1))};
    double change = 1;
    for (const double term : terms) {
      d = 1 + term * d;
      if (std::fabs(d) < kTiny) d = kTiny;
      d = 1 / d;
      c = 1 + term / c;
      if (std::fabs(c) < kTiny) c = kTiny;
      change = c * d;
      h *= change;
    }
    if (std::fabs(change - 1) < kEnough) break;
  }
  return h;
}

double t_density(double t, double df) {
  return std::exp(-0.5 * (df + 1) * std::log1p(t * t / df) - 0.5 * std::log(df) - log_beta(df / 2, 0.5));
}

/// P(T > t) for t >= 0, exact in the tail. The argument of the beta function is chosen so that no 1 - x cancels.
double t_upper(double t, double df) {
  const double square = t * t;
  if (square < df) return 0.5 * (1 - incomplete_beta(0.5, df / 2, square / (df + square)));
  return 0.5 * incomplete_beta(df / 2, 0.5, df / (df + square));
}

/// The t >= 0 whose upper tail is `tail` (in (0, 0.5)): Newton's steps kept inside a bracket.
double t_of_upper(double tail, double df) {
  double low = 0, high = 1;
  while (t_upper(high, df) > tail && high < 1e150) {
    low = high;
    high *= 2;
  }
  double t = 0.5 * (low + high);
  for (int step = 0; step < 200; ++step) {
    const double excess = t_upper(t, df) - tail;
    (excess > 0 ? low : high) = t;
    double next = t + excess / t_density(t, df);
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (std::fabs(next - t) <= 1e-15 * std::fabs(next)) return next;
    t = next;
  }
  return t;
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
  BK_CHECK(a > 0 && b > 0 && x >= 0 && x <= 1);
  if (x == 0 || x == 1) return x;
  const double front = std::exp(a * std::log(x) + b * std::log1p(-x) - log_beta(a, b));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double t_two_sided_p(double t, double df) {
  BK_CHECK(df > 0);
  if (std::isinf(t)) return 0;
  return 2 * t_upper(std::fabs(t), df);
}

double t_cdf(double t, double df) {
  BK_CHECK(df > 0);
  const double upper = std::isinf(t) ? 0 : t_upper(std::fabs(t), df);
  return t > 0 ? 1 - upper : upper;
}

double t_quantile(double p, double df) {
  BK_CHECK(p > 0 && p < 1 && df > 0);
  if (p == 0.5) return 0;
  return p > 0.5 ? t_of_upper(1 - p, df) : -t_of_upper(p, df);
}

}  // namespace bk::stats
