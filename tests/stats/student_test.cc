#include "stats/student.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace bk::stats;

TEST_CASE("quantiles agree with the tables", "[stats]") {
  struct Row {
    double p, df, t;
  };
  const Row rows[] = {
      {0.975, 1, 12.706204736432095},  {0.975, 2, 4.302652729911275},    {0.975, 3, 3.182446305284263},
      {0.975, 4, 2.7764451051977987},  {0.975, 5, 2.570581835636314},    {0.975, 10, 2.2281388519649385},
      {0.975, 30, 2.0422724563012373}, {0.975, 120, 1.9799304050824413}, {0.995, 5, 4.032142983557536},
      {0.995, 10, 3.169272667175838},  {0.95, 7, 1.894578605061305},     {0.9995, 3, 12.92397863653725}};
  for (const Row& row : rows) {
    CAPTURE(row.p, row.df);
    CHECK(t_quantile(row.p, row.df) == Approx(row.t).epsilon(1e-8));
    CHECK(t_quantile(1 - row.p, row.df) == Approx(-row.t).epsilon(1e-8));
  }
  CHECK(t_quantile(0.5, 3) == 0);
  CHECK(t_quantile(0.975, 1e7) == Approx(1.959964).epsilon(1e-6));  // the normal distribution's
}

TEST_CASE("p values agree with the closed forms of few degrees of freedom", "[stats]") {
  const double pi = std::acos(-1.0);
  for (const double t : {0.0, 1e-6, 0.3, 1.0, 2.5, 12.7, 400.0, 1e5}) {
    CAPTURE(t);
    CHECK(t_two_sided_p(t, 1) == Approx(2 / pi * std::atan2(1.0, t)).epsilon(1e-8));
    // 1 - t / sqrt(2 + t²), written without the cancellation
    const double root = std::sqrt(2 + t * t);
    CHECK(t_two_sided_p(t, 2) == Approx(2 / (root * (root + t))).epsilon(1e-8));
    CHECK(t_two_sided_p(-t, 2) == t_two_sided_p(t, 2));
    CHECK(t_cdf(t, 2) == Approx(1 - 1 / (root * (root + t))).epsilon(1e-8));
  }
  CHECK(t_two_sided_p(2, 10) == Approx(0.07338803477074039).epsilon(1e-8));
  CHECK(t_two_sided_p(INFINITY, 3) == 0);
}

TEST_CASE("the incomplete beta function agrees with its polynomials", "[stats]") {
  for (const double x : {0.0, 0.01, 0.2, 0.5, 0.77, 0.999, 1.0}) {
    CAPTURE(x);
    CHECK(incomplete_beta(1, 4, x) == Approx(1 - std::pow(1 - x, 4)).epsilon(1e-10));
    CHECK(incomplete_beta(2, 3, x) == Approx(x * x * (6 - 8 * x + 3 * x * x)).epsilon(1e-10));
    CHECK(incomplete_beta(2.5, 7, x) == Approx(1 - incomplete_beta(7, 2.5, 1 - x)).margin(1e-12));
  }
}

TEST_CASE("quantile and distribution invert each other", "[stats]") {
  for (const double df : {0.1, 0.7, 1.0, 2.3, 5.5, 17.0, 250.0}) {
    for (const double p : {1e-6, 0.004, 0.1, 0.3, 0.6, 0.99, 0.999999}) {
      CAPTURE(df, p);
      CHECK(t_cdf(t_quantile(p, df), df) == Approx(p).epsilon(1e-9));
    }
  }
}
