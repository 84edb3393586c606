#include "stats/within.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "stats/random.h"

using namespace bk::stats;

namespace {

/// Boots of `samples` each: y = level + slope·x + noise; with `stalls`, one sample in every `stalls` lies far below.
std::vector<PairedGroup> simulate(int boots, int samples, double slope, double noise, Random& random, int stalls = 0) {
  std::vector<PairedGroup> groups;
  int count = 0;
  for (int i = 0; i < boots; ++i) {
    PairedGroup group;
    const double level = 4 + 0.01 * random.normal();
    for (int s = 0; s < samples; ++s) {
      const double x = 0.3 + 0.06 * (2 * random.uniform() - 1);
      double y = level + slope * x + noise * random.normal();
      if (stalls > 0 && ++count % stalls == 0) y -= 1.2;
      group.x.push_back(x);
      group.y.push_back(y);
    }
    groups.push_back(group);
  }
  return groups;
}

}  // namespace

TEST_CASE("the scale of normal values, whatever the levels and a few stalled requests", "[stats]") {
  Random random(3);
  std::vector<Group> groups;
  for (int i = 0; i < 400; ++i) {
    Group group;
    for (int s = 0; s < 6; ++s) group.push_back(i + 0.02 * random.normal());
    groups.push_back(group);
  }
  CHECK(*pair_scale(groups) == Approx(0.02).epsilon(0.03));
  for (std::size_t i = 0; i < groups.size(); i += 16) groups[i][2] -= 1.2;  // one sample in a hundred
  CHECK(*pair_scale(groups) == Approx(0.02).epsilon(0.06));
  CHECK_FALSE(pair_scale({{1}, {2}}));
  CHECK(*pair_scale({{1, 1, 1}, {2, 2}}) == 0);
}

TEST_CASE("a boot of many samples takes few of its pairs, with the same scale", "[stats]") {
  Random random(4);
  Group large;
  for (int i = 0; i < 5000; ++i) large.push_back(0.02 * random.normal());
  CHECK(*pair_scale({large}) == Approx(0.02).epsilon(0.06));
}

TEST_CASE("an exact line is found, and needs a spread and a degree of freedom", "[stats]") {
  const auto line = within_line({{{0.1, 0.2, 0.4}, {1.2, 1.4, 1.8}}, {{0.3, 0.5}, {5.6, 6.0}}});
  REQUIRE(line);
  CHECK(line->slope == Approx(2));
  CHECK(line->df == 2);
  CHECK(line->variance == Approx(0).margin(1e-20));
  CHECK_FALSE(within_line({{{0.1, 0.2}, {1, 2}}}));
  CHECK_FALSE(within_line({{{0.1, 0.1, 0.1}, {1, 2, 3}}}));
}

TEST_CASE("the slope's standard error is honest, with stalled requests and without", "[stats]") {
  // The share of slopes within two standard errors, by 2,000 simulated brackets: 95.4 % for normal errors.
  for (const int stalls : {0, 60, 20}) {
    Random random(5);
    int inside = 0;
    double widest = 0;
    constexpr int kTimes = 2000;
    for (int i = 0; i < kTimes; ++i) {
      const auto line = within_line(simulate(8, 6, 2, 0.0065, random, stalls));
      REQUIRE(line);
      const double se = std::sqrt(line->variance / line->xx);
      inside += std::fabs(line->slope - 2) < 2 * se ? 1 : 0;
      widest = std::max(widest, se);
    }
    CAPTURE(stalls);
    CHECK(100.0 * inside / kTimes == Approx(95.2).margin(1.5));
    CHECK(widest < 0.1);  // least squares with one stalled request has 0.8
  }
}
