#include <catch2/catch.hpp>
#include <cmath>

#include "stats/acc_fit.h"
#include "stats/assess.h"

using namespace bk;
using namespace bk::stats;

namespace {

std::vector<BootValues> legs(const std::vector<double>& values) {
  std::vector<BootValues> boots;
  for (std::size_t i = 0; i < values.size(); ++i) {
    boots.push_back({i % 2 == 0 ? Arm::kBase : Arm::kCand, static_cast<double>(i), {{values[i], std::nullopt}}});
  }
  return boots;
}

/// The lane's good brackets: boots differ by 0.3 %, acceptance of a boot by 1.5 points, as ten degrees of freedom tell.
Rules lane() {
  Rules rules;
  rules.history.raw = rules.history.equal_acceptance = BootVariance{0.003 * 0.003, 10};
  rules.history.acceptance = BootVariance{0.015 * 0.015, 10};
  return rules;
}

}  // namespace

TEST_CASE("six real boots read as three and three would be a phantom", "[stats]") {
  // The same six as in order; without their order in the model the machine's drift falls on the arm that came later.
  const double tpot_ms[] = {2.192, 2.158, 2.119, 2.135, 2.073, 2.048};
  double difference = 0;
  for (int i = 0; i < 6; ++i) difference += (i < 3 ? -1 : 1) * std::log(tpot_ms[i]) / 3;
  CHECK(100 * difference == Approx(-3.35).margin(0.005));
  CHECK(to_pct(difference) == Approx(-3.30).margin(0.005));
  std::vector<BootValues> halves;
  for (int i = 0; i < 6; ++i) {
    halves.push_back({i < 3 ? Arm::kBase : Arm::kCand, static_cast<double>(i), {{tpot_ms[i], std::nullopt}}});
  }
  Rules rules;
  rules.better = Better::kLower;
  rules.drift = false;
  CHECK(100 * *assess(halves, rules).estimates.raw.estimate == Approx(-3.35).margin(0.005));
  rules.drift = true;
  CHECK(assess(halves, rules).state == State::kInconclusive);
}

TEST_CASE("the fused gate: +3.47 % is better by a lane's own history", "[stats]") {
  const Assessment a = assess(legs({62.11, 64.28, 62.14}), lane());
  CHECK(a.state == State::kBetter);
  CHECK(to_pct(*a.estimates.raw.estimate) == Approx(3.47).margin(0.005));
}

TEST_CASE("REFINE: acceptance fell, and the assessment says that it is part of the effect", "[stats]") {
  // 64.2 / 43.2 / 64.3 tok/s; acceptance 41..63 % fell to 24.8..30.7 %, in the older convention: converted.
  const std::vector<std::vector<double>> legacy{{0.41, 0.52, 0.63}, {0.248, 0.28, 0.307}, {0.42, 0.52, 0.62}};
  const double rate[] = {64.2, 43.2, 64.3};
  std::vector<BootValues> boots;
  for (int i = 0; i < 3; ++i) {
    BootValues boot{i == 1 ? Arm::kCand : Arm::kBase, static_cast<double>(i), {}};
    const double middle = raw_from_legacy(legacy[static_cast<std::size_t>(i)][1], 5);
    for (const double l : legacy[static_cast<std::size_t>(i)]) {
      const double raw = raw_from_legacy(l, 5);
      boot.samples.push_back({rate[i] * (1 + 5 * raw) / (1 + 5 * middle), raw, 5.0});
    }
    boots.push_back(std::move(boot));
  }
  const Assessment a = assess(boots, lane());
  CHECK(a.state == State::kWorse);
  CHECK(a.acceptance_moved);
  CHECK(a.basis == Basis::kRaw);
  CHECK(to_pct(*a.estimates.raw.estimate) == Approx(-33).margin(0.5));
  CHECK(100 * *a.estimates.acceptance.estimate == Approx(-14.5).margin(0.5));
  CHECK(a.sentence.find("acceptance moved by") != std::string::npos);
}

TEST_CASE("TRIMIDX: rejected by prefill although decode is flat", "[stats]") {
  Rules prefill = lane();
  const auto all = assess_all({{legs({60.1, 60.1, 60.2}), lane()}, {legs({2503, 2431, 2528}), prefill}});
  CHECK(all[0].state == State::kInconclusive);
  CHECK(all[0].reason == "interval_spans_zero");
  CHECK(all[1].state == State::kWorse);
  CHECK(to_pct(*all[1].estimates.raw.estimate) == Approx(-3.36).margin(0.01));
  CHECK(*all[1].p_adjusted < 0.05);  // both metrics were declared
}
