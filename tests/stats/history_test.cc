#include "stats/history.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace bk;
using namespace bk::stats;

namespace {

std::vector<BootValues> bases(const std::vector<double>& logs) {
  std::vector<BootValues> boots;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    boots.push_back({Arm::kBase, static_cast<double>(i), {{std::exp(logs[i]), std::nullopt}}});
  }
  return boots;
}

std::vector<BootValues> aba(double base, double cand, double base_again) {
  auto boots = bases({base, cand, base_again});
  boots[1].arm = Arm::kCand;
  return boots;
}

}  // namespace

TEST_CASE("scatter counts about each session's own mean, and degrees of freedom add") {
  // Sessions at two levels: squares 2·0.01² and 2·0.03², one degree of freedom each: variance 0.001.
  const History h = boot_history({{bases({4.00, 4.02})}, {bases({5.00, 5.06})}}, aba(4, 4, 4));
  REQUIRE(h.raw);
  CHECK(h.raw->df == Approx(2));
  CHECK(h.raw->variance == Approx((2 * 1e-4 + 2 * 9e-4) / 2));
  CHECK_FALSE(h.acceptance);
  CHECK_FALSE(boot_history({{bases({4.0})}}, aba(4, 4, 4)).raw);
}

TEST_CASE("a session's weight multiplies its degrees of freedom") {
  const History h = boot_history({{bases({4.00, 4.02}), 1}, {bases({5.00, 5.06}), 0.25}}, aba(4, 4, 4));
  REQUIRE(h.raw);
  CHECK(h.raw->df == Approx(1.25));
  CHECK(h.raw->variance == Approx((2 * 1e-4 + 0.25 * 2 * 9e-4) / 1.25));
}

TEST_CASE("a long session's linear drift is no boot noise") {
  const History h = boot_history({{bases({4.00, 4.01, 4.02, 4.03, 4.04, 4.05})}}, aba(4, 4, 4));
  REQUIRE(h.raw);
  CHECK(h.raw->df == Approx(4));
  CHECK(h.raw->variance == Approx(0).margin(1e-12));
}

TEST_CASE("boots with more samples than history's have less sampling error") {
  std::vector<BootValues> few, many = aba(4, 4, 4);
  for (int i = 0; i < 4; ++i) {
    BootValues boot{Arm::kBase, static_cast<double>(i), {}};
    for (const double d : {-0.02, 0.0, 0.02}) boot.samples.push_back({std::exp(4 + d + 0.02 * (i % 2)), std::nullopt});
    few.push_back(boot);
  }
  for (BootValues& boot : many) {
    boot.samples.clear();
    for (int s = 0; s < 21; ++s) boot.samples.push_back({std::exp(4 + 0.002 * (s - 10)), std::nullopt});
  }
  const auto same = boot_history({{few}}, few).raw, more = boot_history({{few}}, many).raw;
  REQUIRE(same);
  REQUIRE(more);
  CHECK(more->variance < same->variance);
  CHECK(more->df <= same->df);
  CHECK(more->variance > 0);
}

TEST_CASE("base, candidate, base gets an interval from history, and none without") {
  const auto boots = aba(4.000, 4.035, 4.001);
  CHECK(assess(boots, Rules{}).reason == "no_degrees_of_freedom");
  Rules rules;
  rules.history.raw = BootVariance{0.003 * 0.003, 10};
  const Assessment a = assess(boots, rules);
  CHECK(a.state == State::kBetter);
  CHECK(a.estimates.raw.df == Approx(10));
  // t(0.975, 10) = 2.2281, variance of cand - mean(bases) = 1.5 boots.
  CHECK(*a.estimates.raw.half_width == Approx(2.2281 * 0.003 * std::sqrt(1.5)).epsilon(1e-4));
  CHECK(a.estimates.raw.step_room == 0);
}

TEST_CASE("bases further apart than history explains: a step may be what looks like an effect") {
  Rules rules;
  rules.history.raw = BootVariance{0.003 * 0.003, 10};
  // A step of 3 % before the last boot makes the candidate look 1.5 % worse.
  const Assessment a = assess(aba(4.000, 4.000, 4.030), rules);
  CHECK(*a.estimates.raw.p < 0.05);
  CHECK(a.estimates.raw.step_room > 0.015);
  CHECK(a.state == State::kInconclusive);
  CHECK(a.reason == "step_not_excluded");
  CHECK_FALSE(a.significant);
}
