#include <catch2/catch.hpp>

#include "bracket/bench.h"
#include "hot_command.h"
#include "support/sim_engine.h"

using namespace bk;
using bracket_tool::Bench;
using bracket_tool::json_of;

namespace {

Captured hot(const Bench& bench, const test::SimEngine& engine, std::vector<std::string> more) {
  std::vector<std::string> words{"hot",      "--base-url", engine.url(), "--pairs", "6",
                                 "--warmup", "1",          "--tokens",   "48",      "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return bench.run(words);
}

}  // namespace

TEST_CASE("request fields are JSON where they can be, else text") {
  const auto fields = bracket_tool::parse_fields("temperature=0.5,stop=null,priority=low", "--base");
  REQUIRE(fields);
  CHECK(fields->dump() == R"({"temperature":0.5,"stop":null,"priority":"low"})");
  CHECK(bracket_tool::parse_fields("", "--base")->dump() == "{}");
  CHECK_FALSE(bracket_tool::parse_fields("temperature", "--base"));
  CHECK_FALSE(bracket_tool::parse_fields("=1", "--base"));
}

TEST_CASE("a hot bracket in one boot: pairs are measured, stored and judged", "[bracket][program]") {
  const Bench bench;
  const test::SimEngine engine;
  const Captured ran = hot(bench, engine, {"--base", "temperature=0.95", "--cand", "temperature=0.2"});
  INFO(ran.err);
  const Json doc = json_of(ran);
  CHECK(doc["pairs"].as_int() == 6);
  CHECK(doc["excluded_pairs"].as_int() == 0);
  CHECK(doc["sign_flip_exact"].as_bool() == true);
  CHECK(doc["boots_differ_in_interval"].as_bool() == false);
  CHECK(doc["assessment"]["raw"]["df"].as_double() == 5.0);
  const std::string state = *doc["assessment"]["state"].as_string();
  CHECK(ran.exit.code == (state == "worse" ? 1 : state == "inconclusive" ? 4 : 0));
  const Captured alike = hot(bench, engine, {"--base", "top_p=1", "--cand", "top_p=1"});
  CHECK(alike.exit.code == 2);
  CHECK(alike.err.find("the same") != std::string::npos);
}

TEST_CASE("two live servers are two boots: without history there is no interval", "[bracket][program]") {
  const Bench bench;
  const test::SimEngine one, two({"--boot-index", "1"});
  CHECK(hot(bench, one, {"--cand-url", two.url()}).exit.code == 2);
  const Captured ran = hot(bench, one, {"--cand-url", two.url(), "--profile", "test"});
  INFO(ran.err);
  CHECK(ran.exit.code == 4);
  CHECK(json_of(ran)["assessment"]["reason"].as_string() == "boot_variance_unknown");

  REQUIRE(bench.run({"baseline", "--profile", "test", "--boots", "4", "--reps", "3", "--tokens", "48", "--no-gate"})
              .exit.code == 0);
  const Json doc = json_of(hot(bench, one, {"--cand-url", two.url(), "--profile", "test"}));
  CHECK(doc["boots_differ_in_interval"].as_bool() == true);
  CHECK(*doc["boot_sd_log_points"].as_double() > 0);
  CHECK(doc["assessment"]["sentence"].as_string()->find("Two live boots") != std::string::npos);
}
