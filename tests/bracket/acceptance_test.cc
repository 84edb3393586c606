#include <catch2/catch.hpp>

#include "physics/rounds.h"
#include "stats/assess.h"
#include "stats/within.h"

using namespace bk;

TEST_CASE("equal acceptance cuts the variance within a boot by four on the simulated engine's defaults") {
  const auto params = physics::profile("sim");
  REQUIRE(params);
  const physics::RoundPlan plan;  // 6 rounds of 768 tokens at C = 1
  std::vector<stats::BootValues> boots;
  for (int i = 0; i < 12; ++i) {
    stats::BootValues boot{i % 2 == 0 ? stats::Arm::kBase : stats::Arm::kCand, static_cast<double>(i), {}};
    for (const auto& round : physics::simulate_rounds(*params, 1, static_cast<std::uint64_t>(i), plan)) {
      const double k_eff = (round.tokens_per_step - 1) / round.raw_acceptance;
      boot.samples.push_back({round.decode_tok_s, round.raw_acceptance, k_eff});
    }
    boots.push_back(std::move(boot));
  }
  const stats::Estimates e = stats::estimate(boots, stats::Rules{});
  REQUIRE(e.within_sd);
  REQUIRE(e.within_sd_equal_acceptance);
  const double cut = *e.within_sd / *e.within_sd_equal_acceptance;
  CAPTURE(*e.within_sd, *e.within_sd_equal_acceptance);
  CHECK(cut * cut > 4);
}
