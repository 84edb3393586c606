#include "stats/least_squares.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "stats/acc_fit.h"

using namespace bk;
using namespace bk::stats;

TEST_CASE("a line through four points", "[stats]") {
  // y on x: mean x 1.5, Sxx 5, Sxy 4.5; slope 0.9, intercept 1.15; residuals -.15 .45 -.45 .15, rss 0.45
  const auto fit = least_squares({{"constant", {1, 1, 1, 1}}, {"x", {0, 1, 2, 3}}}, {1.0, 2.5, 2.5, 4.0});
  REQUIRE(fit);
  CHECK(*fit->find("x")->value == Approx(0.9));
  CHECK(*fit->find("constant")->value == Approx(1.15));
  CHECK(fit->df == 2);
  CHECK(fit->rss == Approx(0.45));
  CHECK(*fit->sigma == Approx(std::sqrt(0.225)));
  CHECK(*fit->find("x")->se == Approx(std::sqrt(0.225 / 5)));
  CHECK(*fit->find("constant")->se == Approx(std::sqrt(0.225 * (0.25 + 1.5 * 1.5 / 5))));
  CHECK(fit->aliased.empty());
  CHECK(fit->find("y") == nullptr);
}

TEST_CASE("what the design cannot tell apart has no value and is named", "[stats]") {
  const std::vector<double> ones{1, 1, 1, 1};
  const auto twins =
      least_squares({{"constant", ones}, {"arm", {0, 0, 1, 1}}, {"step", {0, 0, 2, 2}}}, {1, 1.2, 2, 2.2});
  REQUIRE(twins);
  CHECK(twins->rank == 2);
  CHECK(twins->df == 2);
  CHECK(twins->aliased == std::vector<std::string>{"arm", "step"});
  CHECK_FALSE(twins->find("arm")->value);
  CHECK_FALSE(twins->find("step")->se);
  CHECK(*twins->find("constant")->value == Approx(1.1));

  // two boots: arm and drift are one direction
  const auto pair = least_squares({{"constant", {1, 1}}, {"arm", {0, 1}}, {"drift", {-0.5, 0.5}}}, {1, 2});
  REQUIRE(pair);
  CHECK(pair->df == 0);
  CHECK_FALSE(pair->find("arm")->value);

  const auto none = least_squares({{"constant", ones}, {"arm", {0, 0, 0, 0}}}, {1, 2, 3, 4});
  REQUIRE(none);
  CHECK(none->aliased == std::vector<std::string>{"arm"});
  CHECK(*none->find("constant")->value == Approx(2.5));
}

TEST_CASE("no freedom left gives values without errors", "[stats]") {
  const auto fit = least_squares({{"constant", {1, 1, 1}}, {"arm", {0, 1, 0}}, {"drift", {-1, 0, 1}}}, {4.0, 5.0, 4.4});
  REQUIRE(fit);
  CHECK(fit->df == 0);
  CHECK_FALSE(fit->sigma);
  CHECK(fit->rss == 0);
  CHECK(*fit->find("arm")->value == Approx(0.8));
  CHECK(*fit->find("drift")->value == Approx(0.2));
  CHECK_FALSE(fit->find("arm")->se);
}

TEST_CASE("units of a column do not decide its rank", "[stats]") {
  const auto fit = least_squares({{"constant", {1, 1, 1, 1}}, {"tiny", {0, 1e-14, 2e-14, 3e-14}}}, {1, 2, 3, 4});
  REQUIRE(fit);
  CHECK(fit->rank == 2);
  CHECK(*fit->find("tiny")->value == Approx(1e14));
}

TEST_CASE("least squares refuses what it cannot read", "[stats]") {
  CHECK(least_squares({{"constant", {1, 1}}}, {1, 2, 3}).error().where == "constant");
  CHECK(least_squares({{"constant", {1, NAN}}}, {1, 2}).error().code == Errc::kUsage);
  CHECK(least_squares({{"constant", {1, 1}}}, {1, INFINITY}).error().code == Errc::kUsage);
  CHECK(least_squares({}, {1.0}).error().code == Errc::kUsage);
  CHECK(least_squares({{"constant", {}}}, {}).error().code == Errc::kUsage);
}

TEST_CASE("acc=50 reads a leg's line at fifty", "[stats]") {
  // The ledger's A arm: 59.5 at 50 and 62.9 at 55, slope 0.68 a point.
  std::vector<AccPoint> points;
  for (const double acc : {0.41, 0.47, 0.50, 0.56, 0.60}) points.push_back({acc, 59.5 + 68 * (acc - 0.50)});
  const auto fit = acc_fit(points);
  REQUIRE(fit);
  CHECK(fit->at_50 == Approx(59.5));
  CHECK(fit->at_55 == Approx(62.9));
  CHECK(fit->slope_per_point == Approx(0.68));
  CHECK(fit->sigma == Approx(0).margin(1e-9));

  points = {{0.4, 10}, {0.5, 13}, {0.6, 12}};  // slope 10; residuals -2/3 4/3 -2/3: rss 24/9 over 1
  const auto rough = acc_fit(points);
  REQUIRE(rough);
  CHECK(rough->sigma == Approx(std::sqrt(24.0 / 9)));
  CHECK(rough->at_50 == Approx(35.0 / 3));
}

TEST_CASE("acc=50 refuses too few samples and equal acceptance", "[stats]") {
  CHECK(acc_fit({{0.4, 1}, {0.5, 2}}).error().code == Errc::kInconclusive);
  CHECK(acc_fit({{0.5, 1}, {0.5, 2}, {0.5, 3}}).error().code == Errc::kInconclusive);
  CHECK(acc_fit({{NAN, 1}, {0.5, 2}, {0.6, 3}}).error().code != Errc::kInternal);
}

TEST_CASE("legacy acceptance is raw times 2k/(k+1)", "[stats]") {
  CHECK(legacy_from_raw(0.30, 5) == Approx(0.50));
  CHECK(raw_from_legacy(0.50, 5) == Approx(0.30));
  CHECK(legacy_from_raw(0.60, 5) == Approx(1.00));
}
