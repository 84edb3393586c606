#include <catch2/catch.hpp>

#include "base/json.h"
#include "check-quality/run.h"
#include "korean-corruption/run.h"
#include "needle-256k/run.h"
#include "support/run_in_process.h"
#include "support/sim_engine.h"

namespace bk {
namespace {

constexpr int kSeeds = 50;

Json json_of(const test::Ran& ran) {
  INFO(ran.err);
  auto document = parse_json(ran.out);
  REQUIRE(document);
  return std::move(*document);
}

Json quality(const std::string& url, const cli::Args& more) {
  return json_of(test::run_against(url, "check-quality", check_quality::run, more));
}
Json needle(const std::string& url, const cli::Args& more) {
  return json_of(test::run_against(url, "needle-256k", needle_256k::run, more));
}
Json korean(const std::string& url, const cli::Args& more) {
  return json_of(test::run_against(url, "korean-corruption", korean_corruption::run, more));
}

}  // namespace

TEST_CASE("an honest engine passes every gate with every seed", "[gates]") {
  int perfect = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const std::string text = std::to_string(seed);
    const test::SimEngine engine({"--speed", "1000", "--seed", text});
    const Json facts = quality(engine.url(), {"--seed", text, "--json"});
    const Json deep = needle(engine.url(), {"--seed", text, "--context", "65536", "--json"});
    const Json replies = korean(engine.url(), {"--concurrency", "8", "--max-tokens", "200", "--json"});
    INFO(seed << " " << *facts["detail"].as_string() << ", " << *deep["detail"].as_string() << ", "
              << *replies["detail"].as_string());
    const bool all = facts["detail"].as_string() == "9/9 correct" &&
                     deep["detail"].as_string() == "3/3 single + PASS multi" &&
                     replies["detail"].as_string() == "0/16 dirty";
    CHECK(all);
    perfect += all ? 1 : 0;
  }
  CHECK(perfect == kSeeds);
}

TEST_CASE("damage planted in one of 200 replies is found at that rate", "[gates]") {
  const test::SimEngine engine({"--speed", "1000", "--knob", "KOREAN_CORRUPT=1/200"});
  const Json found = korean(engine.url(), {"--rounds", "100", "--concurrency", "8", "--max-tokens", "200", "--json"});
  CHECK(found["asked"].as_int() == 800);
  CHECK(found["dirty"].as_int() == 4);
  CHECK(found["no_answer"].as_int() == 0);
  CHECK(found["verdict"].as_string() == "fail");
  CHECK(found["rows"].items()[0]["characters"].as_int() == 4);  // one replacement character in each
  for (const Json& place : found["places"].items()) CHECK(place["mark"].as_string() == "replacement");
}

TEST_CASE("a wrong stride passes at 2K and fails at depth, with every seed", "[gates]") {
  const test::SimEngine engine({"--speed", "1000", "--knob", "STRIDE_BUG=1"});
  for (int seed = 1; seed <= 10; ++seed) {
    const std::string text = std::to_string(seed);
    CAPTURE(seed);
    CHECK(quality(engine.url(), {"--seed", text, "--contexts", "2K", "--json"})["verdict"].as_string() == "pass");
    CHECK(quality(engine.url(), {"--seed", text, "--contexts", "32K", "--json"})["verdict"].as_string() == "fail");
    CHECK(needle(engine.url(), {"--seed", text, "--context", "65536", "--json"})["verdict"].as_string() == "fail");
  }
}

}  // namespace bk
