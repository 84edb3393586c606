#include "stats/student.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace bk::stats {
namespace {

/// log of the Beta function. lgamma() writes the global signgam; its arguments here are positive, so nobody reads it.
double log_beta(double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }

/// Continued fraction of I_x(a, b) by the modified Lentz method; converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr double kEnough = 4e-16;  // below two roundings it would never be reached
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

/// Within 0.03 of the z >= 0 with this upper tail, and with the correction for few degrees of freedom near enough for
/// Newton. Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.23 and 26.7.5.
double first_guess(double tail, double df) {
  const double u = std::sqrt(-2 * std::log(tail));
  const double z =
      u - (2.515517 + u * (0.802853 + u * 0.010328)) / (1 + u * (1.432788 + u * (0.189269 + u * 0.001308)));
  const double z3 = z * z * z;
  return z + (z3 + z) / (4 * df) + (5 * z3 * z * z + 16 * z3 + 3 * z) / (96 * df * df);
}

/// The t >= 0 whose upper tail is `tail` (in (0, 0.5)): Newton's steps kept inside a bracket. At a fraction of a degree
/// of freedom t has tens of digits, so a wide bracket is halved by its exponents, and what is beyond kMost is cut off.
double t_of_upper(double tail, double df) {
  constexpr double kMost = 1e150;  // its square is still a number
  double low = 0, high = HUGE_VAL, t = std::clamp(first_guess(tail, df), 1e-9, kMost);
  for (int step = 0; step < 200; ++step) {
    const double excess = t_upper(t, df) - tail;
    (excess > 0 ? low : high) = t;
    if (low == kMost) return kMost;
    double next = t + excess / t_density(t, df);
    if (!(next > low && next < std::min(high, kMost))) {
      if (std::isinf(high)) {
        next = std::min(std::max(2 * t, t * t), kMost);
      } else {
        next = low > 0 && high > 4 * low ? std::sqrt(low) * std::sqrt(high) : 0.5 * (low + high);
      }
    }
    if (std::fabs(next - t) <= 1e-13 * next) return next;
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
