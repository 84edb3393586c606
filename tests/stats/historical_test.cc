#include "stats/historical.h"

#include <catch2/catch.hpp>

using namespace bk::stats;

namespace {

BootValues boot(Arm arm, double order, const std::vector<double>& values) {
  BootValues b{arm, order, {}};
  for (const double v : values) b.samples.push_back({v, std::nullopt});
  return b;
}

}  // namespace

TEST_CASE("the ledger's anchors", "[stats]") {
  const Historical h = historical_rule(
      {boot(Arm::kBase, 0, {62.11}), boot(Arm::kCand, 1, {64.28}), boot(Arm::kBase, 2, {62.14})}, Better::kHigher);
  CHECK(*h.delta_pct == Approx(3.47).margin(0.005));
  CHECK(*h.base_gap_pct == Approx(0.0483).margin(0.0001));
  CHECK(*h.drift_pct == Approx(0.0483).margin(0.0001));
  CHECK(h.call == Historical::Call::kGain);
  CHECK_FALSE(h.at_acc50);
  CHECK(historical_rule({boot(Arm::kBase, 0, {62.11}), boot(Arm::kCand, 1, {64.28}), boot(Arm::kBase, 2, {62.14})},
                        Better::kLower)
            .call == Historical::Call::kLoss);
}

TEST_CASE("legs are read at acc=50 when every leg can be", "[stats]") {
  const auto leg = [](Arm arm, double order, double at50, std::vector<double> raw) {
    BootValues b{arm, order, {}};
    // k = 5: legacy = raw · 5/3, so raw 0.30 is acc = 50; slope 0.68 a legacy point
    for (const double r : raw) b.samples.push_back({at50 + 68 * (r * 5 / 3 - 0.5), r, 5.0});
    return b;
  };
  std::vector<BootValues> boots{leg(Arm::kBase, 0, 59.5, {0.28, 0.31, 0.36}),
                                leg(Arm::kCand, 1, 61.3, {0.33, 0.35, 0.36}),
                                leg(Arm::kBase, 2, 59.7, {0.25, 0.27, 0.29})};
  const Historical h = historical_rule(boots, Better::kHigher);
  CHECK(h.at_acc50);
  CHECK(h.leg_values[0] == Approx(59.5));
  CHECK(*h.delta_pct == Approx(100 * (61.3 / 59.6 - 1)));
  boots[1].samples.pop_back();  // two samples have no line: the means are compared, all of them
  const Historical means = historical_rule(boots, Better::kHigher);
  CHECK_FALSE(means.at_acc50);
  CHECK(means.leg_values[0] != Approx(59.5));
}

TEST_CASE("what is no bracket gets no call", "[stats]") {
  using Call = Historical::Call;
  const auto rule = [](const std::vector<BootValues>& boots) { return historical_rule(boots, Better::kHigher); };
  CHECK(rule({}).reason == "a_leg_has_no_sample");
  CHECK(rule({boot(Arm::kBase, 0, {1}), boot(Arm::kBase, 1, {1})}).reason == "no_candidate");
  CHECK(rule({boot(Arm::kCand, 0, {1})}).reason == "no_base");
  const Historical one = rule({boot(Arm::kBase, 0, {100}), boot(Arm::kCand, 1, {110})});
  CHECK(one.reason == "one_base");
  CHECK(*one.delta_pct == Approx(10));
  CHECK_FALSE(one.drift_pct);
  CHECK(one.call == Call::kNotABracket);
  const auto abab = rule(
      {boot(Arm::kBase, 0, {100}), boot(Arm::kCand, 1, {110}), boot(Arm::kBase, 2, {100}), boot(Arm::kCand, 3, {110})});
  CHECK(abab.reason == "first_and_last_leg_must_be_base");
  CHECK(rule({boot(Arm::kBase, 0, {0}), boot(Arm::kCand, 1, {110}), boot(Arm::kBase, 2, {0})}).reason ==
        "base_is_not_positive");
  CHECK(rule({boot(Arm::kBase, 0, {}), boot(Arm::kCand, 1, {110}), boot(Arm::kBase, 2, {1})}).reason ==
        "a_leg_has_no_sample");
}
