#include <catch2/catch.hpp>
#include <cmath>

#include "bracket/bench.h"
#include "bracket/calibrate.h"
#include "bracket/forecast.h"

using namespace bk;
using namespace bk::bracket;
using bracket_tool::Bench;
using bracket_tool::json_of;

TEST_CASE("what a plan promises to resolve is what simulated brackets resolve, within 10 %") {
  struct Row {
    std::string order;
    double boot_sd;
    int history_boots;
  };
  const Row rows[] = {{"ABA", 0.003, 12}, {"ABABA", 0.01, 12}, {"ABABABA", 0.003, 0}, {"ABABABABABABA", 0.017, 0}};
  for (const Row& row : rows) {
    CAPTURE(row.order, row.boot_sd);
    CalibrationCell cell;
    cell.name = "resolution/" + row.order;
    cell.order = row.order;
    cell.world.boot_sd = row.boot_sd;
    cell.history_boots = row.history_boots;
    // The noise as very much history tells it, with the freedom that this row's history has.
    stats::Random random(1);
    const auto known = stats::planned_history({simulate_history(cell.world, 2000, random)}, cell.world.samples);
    REQUIRE(known.raw);
    const double more_df = row.history_boots > 0 ? row.history_boots - 2 : 0;
    const auto design = stats::design_of(arms_of(row.order), std::sqrt(known.raw->variance), more_df, stats::Rules{});
    REQUIRE(design);
    const auto resolved = stats::resolution(*design, stats::Rules{});
    REQUIRE(resolved);
    const double promised = *resolved;
    constexpr int kBrackets = 1500;
    cell.world.effect = 0.9 * promised;
    CHECK(run_cell(cell, kBrackets, 1).better_pct() < 80);
    cell.world.effect = 1.1 * promised;
    CHECK(run_cell(cell, kBrackets, 1).better_pct() > 80);
  }
}

TEST_CASE("looks rise by two boots to the last, and each has its share of alpha") {
  const auto looks = looks_between(5, 10);
  REQUIRE(looks);
  CHECK(*looks == std::vector<int>{5, 7, 9, 10});
  CHECK_FALSE(looks_between(3, 9));
  CHECK_FALSE(looks_between(9, 9));
  Plan plan;
  plan.order = boot_order(10);
  plan.options.looks = *looks;
  CHECK(plan.rules_at(5).alpha < plan.rules_at(7).alpha);
  CHECK(plan.rules_at(10).alpha < 0.05);
  CHECK(plan.rules_at(10).alpha > 0.03);
  CHECK(plan.rules_at(8).alpha == plan.rules_at(7).alpha);
  const double with_looks = *forecast_without_history(plan).planned.resolves;
  plan.options.looks.clear();
  CHECK(with_looks > *forecast_without_history(plan).planned.resolves);
  CHECK(plan.rules_at(5).alpha == 0.05);
}

TEST_CASE("a plan that cannot answer promises nothing, and says why") {
  const stats::Rules rules;
  CHECK_FALSE(stats::design_of(boot_order(3), 0.01, 0, rules));
  CHECK_FALSE(stats::design_of(boot_order(2), 0.01, 10, rules));
  CHECK(stats::design_of(boot_order(3), 0.01, 10, rules));
  Plan plan;
  plan.order = boot_order(3);
  const Forecast f = forecast_without_history(plan);
  CHECK(f.noise.assumed());
  CHECK(forecast_text(f).find("can call no effect") == 0);
  CHECK(to_json(f)["planned"]["resolves_pct"].is_null());
  CHECK(to_json(f)["planned"]["resolves_pct_reason"].as_string() == "no_degrees_of_freedom");
}

TEST_CASE("a baseline is history: three boots can answer after it, void boots do not count", "[bracket][program]") {
  const Bench bench;
  const std::vector<std::string> measured{"--profile", "test", "--reps", "3", "--tokens", "48", "--no-gate", "--json"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), measured.begin(), measured.end());
    return bench.run(words);
  };
  const Json before = json_of(with({"plan"}));
  CHECK(before["boot_noise"]["assumed"].as_bool() == true);
  CHECK(before["others"].items()[0]["resolves_pct"].is_null());
  CHECK(before["planned"]["seconds"].is_null());

  const Captured ran = with({"baseline", "--boots", "6"});
  INFO(ran.err);
  REQUIRE(ran.exit.code == 0);
  const Json baseline = json_of(ran);
  CHECK(baseline["axis"].as_string() == "baseline");
  CHECK(baseline["state"].as_string() == "done");
  CHECK(baseline["assessment"].is_null());
  CHECK(baseline["boots"].items().size() == 6);
  CHECK(bench.run({"show", *baseline["uid"].as_string()}).exit.code == 0);

  bench.write_profile("test", "--fault cut=9", "--knob GATEFUSE={VALUE}");
  CHECK(with({"baseline", "--boots", "2"}).exit.code == 5);
  bench.write_profile("test", "", "--knob GATEFUSE={VALUE}");

  const Json after = json_of(with({"plan", "--effect", "900"}));
  CHECK(after["boot_noise"]["assumed"].as_bool() == false);
  CHECK(after["boot_noise"]["base_boots"].as_int() == 6);
  CHECK(after["boot_noise"]["base_boots_of_less_weight"].as_int() == 0);
  CHECK(*after["boot_noise"]["df"].as_double() == Approx(4));
  CHECK(after["others"].items()[0]["boots"].as_int() == 3);
  CHECK(*after["others"].items()[0]["resolves_pct"].as_double() >
        *after["others"].items()[1]["resolves_pct"].as_double());
  CHECK(after["boots_needed"].as_int() == 3);
  CHECK(*after["planned"]["seconds"].as_double() > 0);
  CHECK(bench.run({"plan", "--profile", "test"}).out.find("8 of 10 brackets") != std::string::npos);

  const Captured bracket = bench.bracket("test", 3);
  INFO(bracket.err);
  REQUIRE(bracket.exit.code == 0);
  CHECK(bracket.err.find("6 earlier base boots") != std::string::npos);
  const Json doc = json_of(bracket);
  CHECK(doc["assessment"]["reason"].as_string() != "no_degrees_of_freedom");
  CHECK(*doc["assessment"]["raw"]["df"].as_double() == Approx(4));
}

TEST_CASE("arms that are the same: a bracket without a difference", "[bracket][program]") {
  const Bench bench;
  const Captured ran =
      bench.run({"aa", "--profile", "test", "--boots", "5", "--reps", "3", "--tokens", "48", "--no-gate", "--json"});
  INFO(ran.err);
  const Json doc = json_of(ran);
  CHECK(doc["axis"].as_string() == "no difference");
  CHECK(doc["assessment"]["cand_boots"].as_int() == 2);
  const std::string state = *doc["assessment"]["state"].as_string();
  CHECK(ran.exit.code == (state == "better" || state == "worse" ? 1 : 0));
  const Captured dry = bench.run({"aa", "--profile", "test", "--dry-run"});
  CHECK(dry.exit.code == 0);
  CHECK(dry.out.find("plan: no difference on profile test; 3 boots: base cand base") != std::string::npos);
}
