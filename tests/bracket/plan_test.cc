#include "bracket/plan.h"

#include <catch2/catch.hpp>

#include "base/text.h"
#include "bracket/verdict_rule.h"

using namespace bk;
using namespace bk::bracket;

namespace {

boot::Profile profile(const std::string& more = {}, const boot::Environment& caller = {}) {
  const auto parsed = boot::parse_profile(
      "COMMAND=\"{BIN}/sim-engine --port {PORT}\"\n"
      "GATEFUSE=0\nGATEFUSE.values=\"0 1\"\nGATEFUSE.flag=\"--knob GATEFUSE={VALUE}\"\n"
      "SPEC_TOKENS=5\nSPEC_TOKENS.range=0..7\nSPEC_TOKENS.flag=\"--knob SPEC_TOKENS={VALUE}\"\n" +
          more,
      "profiles/test.env", caller);
  INFO((parsed ? std::string() : parsed.error().text()));
  REQUIRE(parsed);
  return *parsed;
}

PlanOptions options(int boots = 5) {
  PlanOptions o;
  o.boots = boots;
  o.decode.concurrency = {1, 2};
  o.seed = 18446744073709551615ULL;
  return o;
}

}  // namespace

TEST_CASE("a plan names the one knob that differs and alternates from base", "[bracket]") {
  const auto plan = make_plan(profile(), {{"GATEFUSE", "0"}}, {{"GATEFUSE", "1"}}, options());
  REQUIRE(plan);
  CHECK(plan->axis() == "GATEFUSE 0 -> 1");
  CHECK(plan->profile == "test");
  using stats::Arm;
  CHECK(plan->order == std::vector<Arm>{Arm::kBase, Arm::kCand, Arm::kBase, Arm::kCand, Arm::kBase});
  CHECK(plan->base_hash != plan->cand_hash);
  CHECK(tokens_per_boot(*plan) == 3 * 7 * 768);  // C = 1 and 2, six rounds and a warm-up
}

TEST_CASE("arms that do not differ in exactly one knob are refused", "[bracket]") {
  struct Row {
    boot::KnobMap base, cand;
  };
  const Row rows[] = {{{{"GATEFUSE", "0"}}, {{"GATEFUSE", "0"}}},
                      {{{"GATEFUSE", "0"}}, {{"SPEC_TOKENS", "3"}}},
                      {{{"GATEFUSE", "0"}, {"SPEC_TOKENS", "5"}}, {{"GATEFUSE", "1"}, {"SPEC_TOKENS", "3"}}},
                      {{{"GATEFUSE", "0"}}, {{"GATEFUSE", "7"}}},
                      {{{"GATEFUZE", "0"}}, {{"GATEFUZE", "1"}}}};
  for (const Row& row : rows) {
    CAPTURE(boot::format_knobs(row.base), boot::format_knobs(row.cand));
    const auto plan = make_plan(profile(), row.base, row.cand, options());
    REQUIRE_FALSE(plan);
    CHECK(plan.error().code == Errc::kUsage);
  }
  PlanOptions no_one = options();
  no_one.decode.concurrency = {2, 4};
  CHECK(make_plan(profile(), {{"GATEFUSE", "0"}}, {{"GATEFUSE", "1"}}, no_one).error().where == "--conc");
  CHECK_FALSE(make_plan(profile(), {{"GATEFUSE", "0"}}, {{"GATEFUSE", "1"}}, options(1)));
}

TEST_CASE("a plan survives its JSON, and its hash sees every change", "[bracket]") {
  const auto plan = make_plan(profile(), {{"GATEFUSE", "0"}}, {{"GATEFUSE", "1"}}, options());
  REQUIRE(plan);
  const auto back = plan_from_json(*parse_json(to_json(*plan).dump()));
  REQUIRE(back);
  CHECK(to_json(*back).dump() == to_json(*plan).dump());
  CHECK(back->options.seed == 18446744073709551615ULL);
  CHECK(back->options.decode.seed == back->options.seed);
  CHECK(back->order == plan->order);
  CHECK(config_hash(*back) == config_hash(*plan));
  Plan other = *plan;
  other.options.decode.reps += 1;
  CHECK(config_hash(other) != config_hash(*plan));
  other = *plan;
  other.options.greedy_tokens = 100;
  CHECK(config_hash(other) != config_hash(*plan));
  CHECK(plan_from_json(to_json(other))->options.greedy_tokens == 100);
  other = *plan;
  other.options.band = 0.01;
  CHECK(config_hash(other) != config_hash(*plan));

  // A plan that lacks any one of its members is no plan.
  const Json whole = to_json(*plan);
  for (const auto& [key, value] : whole.members()) {
    if (key == "gate_contexts" || key == "base" || key == "cand") continue;  // may be empty
    CAPTURE(key);
    Json part = Json::object();
    for (const auto& [k, v] : whole.members()) {
      if (k != key) part.set(k, v);
    }
    CHECK_FALSE(plan_from_json(part));
  }
  CHECK_FALSE(plan_from_json(Json()));
}

TEST_CASE("what changed since a plan was stored is named", "[bracket]") {
  const auto plan = make_plan(profile(), {{"GATEFUSE", "0"}}, {{"GATEFUSE", "1"}}, options());
  REQUIRE(plan);
  CHECK(what_changed(*plan, profile()).empty());
  const std::string caller = what_changed(*plan, profile("", {{"SPEC_TOKENS", "3"}}));
  CAPTURE(caller);
  CHECK(caller.find("SPEC_TOKENS") != std::string::npos);
  const std::string added = what_changed(*plan, profile("ENV.MORE=1\n"));
  CAPTURE(added);
  CHECK(added.find("MORE") != std::string::npos);
}

TEST_CASE("a verdict against what was measured needs an override", "[bracket]") {
  struct Row {
    std::string word;
    std::optional<std::string> state;
    int gates_failed;
    bool conflict;
  };
  const Row rows[] = {{"adopted", "better", 0, false},        {"adopted", "better", 1, true},
                      {"adopted", "same", 0, true},           {"adopted", "worse", 0, true},
                      {"adopted", "inconclusive", 0, true},   {"adopted", "void", 0, true},
                      {"adopted", std::nullopt, 0, true},     {"rejected", "worse", 0, false},
                      {"rejected", "better", 0, true},        {"rejected", "better", 1, false},
                      {"rejected", "inconclusive", 0, false}, {"rejected", "void", 0, true},
                      {"neutral", "same", 0, false},          {"neutral", "inconclusive", 0, false},
                      {"neutral", "better", 0, true},         {"neutral", "worse", 0, true},
                      {"invalid", "void", 0, false},          {"unavailable", std::nullopt, 0, false},
                      {"deferred", "better", 2, false}};
  for (const Row& row : rows) {
    CAPTURE(row.word, row.state.value_or("none"), row.gates_failed);
    CHECK(verdict_conflict(row.word, row.state, row.gates_failed).empty() != row.conflict);
  }
}
