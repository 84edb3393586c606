#include "bracket/family_plan.h"

#include <catch2/catch.hpp>
#include <map>

#include "bracket/family_forecast.h"

using namespace bk;
using namespace bk::bracket;

namespace {

boot::Profile sim() {
  const auto profile = boot::load_profile("sim", std::string(BK_SOURCE_DIR) + "/profiles", {});
  REQUIRE(profile);
  return *profile;
}

PlanOptions options() {
  PlanOptions o;
  o.decode.concurrency = {1};
  return o;
}

Result<Family> matrix(const std::vector<std::string>& knobs, int rounds = 2) {
  FamilySpec spec;
  spec.kind = FamilySpec::Kind::kMatrix;
  spec.rounds = rounds;
  for (const std::string& text : knobs) {
    BK_ASSIGN(KnobAxis axis, parse_axis(text, "", "--knob"));
    spec.axes.push_back(std::move(axis));
  }
  return make_family(sim(), spec, options());
}

std::vector<int> variants_at(const Family& family, int stage) {
  std::vector<int> out;
  for (const FamilyStep& step : family.order) {
    if (step.stage == stage) out.push_back(step.variant);
  }
  return out;
}

}  // namespace

TEST_CASE("an axis: its values in order, the base first") {
  struct Row {
    const char *text, *base;
    std::vector<std::string> values;
    const char* error;
  };
  const Row rows[] = {{"X=1,2,3", "", {"1", "2", "3"}, nullptr},
                      {"X=1,2,3", "2", {"2", "1", "3"}, nullptr},
                      {"X=1,3", "2", {"2", "1", "3"}, nullptr},
                      {" X = 1 , 2 ", "", {"1", "2"}, nullptr},
                      {"X=1,2,1", "", {}, "X=1 is given twice"},
                      {"X=2,1,2", "2", {}, "X=2 is given twice"},
                      {"X=1", "", {}, "one value"},
                      {"X=1", "1", {}, "one value"},
                      {"X", "", {}, "no KNOB=VALUE"},
                      {"=1,2", "", {}, "no KNOB=VALUE"}};
  for (const Row& row : rows) {
    CAPTURE(row.text, row.base);
    const auto axis = parse_axis(row.text, row.base, "--knob");
    if (row.error != nullptr) {
      REQUIRE_FALSE(axis);
      CHECK(axis.error().code == Errc::kUsage);
      CHECK(axis.error().what.find(row.error) != std::string::npos);
      continue;
    }
    REQUIRE(axis);
    CHECK(axis->values == row.values);
  }
}

TEST_CASE("a matrix: single arms first, then their combinations, by the knobs they move") {
  const Family two = matrix({"GATEFUSE=0,1", "ONESHOT=0,1"}).value();
  REQUIRE(two.arms.size() == 3);
  CHECK(two.name(0) == "base");
  CHECK(two.name(1) == "GATEFUSE=1");
  CHECK(two.name(2) == "ONESHOT=1");
  CHECK(two.name(3) == "GATEFUSE=1,ONESHOT=1");
  CHECK(two.arm(3).stage == 2);
  CHECK(two.arm(3).singles == std::vector<int>{1, 2});
  CHECK(two.arm(3).plan.axis() == "GATEFUSE 0 -> 1, ONESHOT 0 -> 1");
  CHECK(two.whole.axis() == "matrix GATEFUSE 0,1 x ONESHOT 0,1");
  CHECK(variants_at(two, 2) == std::vector<int>{3, 0, 3, 0});
  CHECK(two.whole.order.size() == 5);
  REQUIRE(questions(two).size() == 4);
  CHECK(questions(two)[3].interaction);

  const Family three = matrix({"GATEFUSE=0,1", "ONESHOT=0,1", "REFINE=0,1"}).value();
  REQUIRE(three.arms.size() == 7);
  CHECK(three.name(7) == "GATEFUSE=1,ONESHOT=1,REFINE=1");
  CHECK(three.arm(7).singles == std::vector<int>{1, 2, 3});
  CHECK(questions(three).size() == 11);
  const Family wide = matrix({"GATEFUSE=0,1", "SPEC_TOKENS=5,3,7"}).value();
  REQUIRE(wide.arms.size() == 5);
  CHECK(wide.name(5) == "GATEFUSE=1,SPEC_TOKENS=7");
  CHECK(wide.arm(5).singles == std::vector<int>{1, 3});
}

TEST_CASE("every arm of a stage has the same mean place in time, for any seed") {
  for (const std::uint64_t seed : {1, 2, 3, 99}) {
    std::vector<FamilyArm> arms(5);
    arms[4].stage = 2;
    const auto order = family_order(arms, 4, seed);
    CHECK(order.front().variant == 0);
    CHECK(order.back().variant == 0);
    std::map<int, std::pair<double, int>> places;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (order[i].stage == 2) continue;
      places[order[i].variant].first += static_cast<double>(i);
      ++places[order[i].variant].second;
    }
    for (const auto& [variant, sum] : places) {
      CAPTURE(seed, variant);
      CHECK(sum.second == (variant == 0 ? 5 : 4));
      CHECK(sum.first / sum.second == Approx(10));  // of 21 boots
    }
  }
  // Another seed, another order: no value owns a place.
  std::vector<FamilyArm> arms(5);
  const auto first_of = [&](std::uint64_t seed) { return family_order(arms, 2, seed)[1].variant; };
  bool differs = false;
  for (std::uint64_t seed = 2; seed < 12; ++seed) differs = differs || first_of(seed) != first_of(1);
  CHECK(differs);
}

TEST_CASE("what a matrix refuses names the fault and what to do") {
  struct Row {
    std::vector<std::string> knobs;
    std::string error;
  };
  const Row rows[] = {{{"GATEFUSE=0,1"}, "bracket sweep"},
                      {{"GATEFUSE=0,1", "GATEFUSE=0,1"}, "GATEFUSE is given twice"},
                      {{"GATEFUS=0,1", "ONESHOT=0,1"}, "did you mean GATEFUSE?"},
                      {{"GATEFUSE=0,1", "ONESHOT=0,2"}, "ONESHOT"},
                      {{"SPEC_TOKENS=0,1,2,3,4", "MAX_NUM_SEQS=1,2,3,4"}, "at most 16"}};
  for (const Row& row : rows) {
    const auto family = matrix(row.knobs);
    REQUIRE_FALSE(family);
    CHECK(family.error().code == Errc::kUsage);
    INFO(family.error().text());
    CHECK(family.error().what.find(row.error) != std::string::npos);
  }
}

TEST_CASE("a stored family is the same family again") {
  const Family family = matrix({"GATEFUSE=0,1", "ONESHOT=0,1"}, 4).value();
  const auto stored = plan_from_json(parse_json(to_json(family.whole).dump()).value());
  REQUIRE(stored);
  CHECK(is_family(*stored));
  std::vector<Plan> comparisons;
  for (const FamilyArm& arm : family.arms) {
    comparisons.push_back(plan_from_json(parse_json(to_json(arm.plan).dump()).value()).value());
  }
  const Family again = family_of(*stored, comparisons).value();
  CHECK(config_hash(again.whole) == config_hash(family.whole));
  REQUIRE(again.order.size() == family.order.size());
  for (std::size_t i = 0; i < again.order.size(); ++i) CHECK(again.order[i].variant == family.order[i].variant);
  for (std::size_t i = 0; i < again.arms.size(); ++i) {
    CHECK(config_hash(again.arms[i].plan) == config_hash(family.arms[i].plan));
    CHECK_FALSE(is_family(again.arms[i].plan));
  }
  CHECK_FALSE(family_of(family.arms[0].plan, comparisons));
  std::swap(comparisons[0], comparisons[1]);
  CHECK(family_of(*stored, comparisons).error().code == Errc::kMismatch);
  comparisons.pop_back();
  CHECK(family_of(*stored, comparisons).error().code == Errc::kUnavailable);
}

TEST_CASE("before the first boot each question says what it can call, at its share of alpha") {
  const Family family = matrix({"GATEFUSE=0,1", "ONESHOT=0,1"}).value();
  const FamilyForecast forecast = forecast_without_history(family);
  CHECK(forecast.alpha == Approx(0.05 / 4));
  REQUIRE(forecast.questions.size() == 4);
  for (const QuestionForecast& q : forecast.questions) CHECK(q.resolves);
  // An interaction is made of four arms: it resolves less than any of them.
  CHECK(*forecast.questions[3].resolves > *forecast.questions[0].resolves);
  // One round of single arms leaves base, two arms and drift without a degree of freedom.
  const FamilyForecast one_round = forecast_without_history(matrix({"GATEFUSE=0,1", "ONESHOT=0,1"}, 1).value());
  CHECK_FALSE(one_round.questions[0].resolves);
  CHECK(one_round.questions[0].reason == "no_degrees_of_freedom");
}
