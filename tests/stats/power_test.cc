#include "stats/power.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "stats/student.h"

using namespace bk::stats;

namespace {

/// An arm effect with the standard error of one boot's deviation.
Design design(double df) { return Design{0.01, 1, df}; }

}  // namespace

TEST_CASE("without a band, an effect of no size is called as often as alpha and the share of acceptance leave") {
  Rules rules;
  rules.band = 0;
  // One side of the t test, exactly: a wrong mass of the estimate would show as another share.
  for (const double df : {0.3, 0.9, 1.0, 2.0, 5.0, 50.0, 5000.0, 1e6}) {
    CAPTURE(df);
    CHECK(chance_to_call(0, design(df), rules) == Approx((1 - kAcceptanceShare) * rules.alpha / 2).epsilon(0.002));
  }
}

TEST_CASE("the chance rises with the effect to one, and the resolution is where it passes kPower, at every freedom") {
  const Rules rules;
  for (const double df : {0.2, 0.5, 1.0, 3.0, 30.0, 3e4, 1e6, 1e9}) {
    CAPTURE(df);
    double before = -1;
    for (const double effect : {0.0, 0.01, 0.03, 0.1, 0.5}) {
      const double chance = chance_to_call(effect, design(df), rules);
      CHECK(chance >= before);
      CHECK(chance <= 1 + 1e-12);
      before = chance;
    }
    const auto resolves = resolution(design(df), rules);
    if (df < 0.5) {
      CHECK_FALSE(resolves);
      continue;
    }
    REQUIRE(resolves);
    CHECK(chance_to_call(0.999 * *resolves, design(df), rules) < kPower);
    CHECK(chance_to_call(1.001 * *resolves, design(df), rules) > kPower);
  }
}

TEST_CASE("history of next to no weight leaves nothing that could be called, and the search for it ends") {
  for (const double df : {1e-12, 1e-6, 1e-3, 0.01, 0.1}) {
    CAPTURE(df);
    CHECK_FALSE(resolution(design(df), Rules{}));
  }
}
