#include "leg/needle_256k.h"

#include <catch2/catch.hpp>

#include "base/json.h"
#include "run.h"
#include "support/run_in_process.h"
#include "support/sim_engine.h"

namespace bk::needle_256k {
namespace {

test::Ran needle(const std::string& url, const cli::Args& more) {
  return test::run_against(url, "needle-256k", run, more);
}

TEST_CASE("the score names the singles and the long answer apart") {
  CHECK(leg::needle_score({"pass", "pass", "pass", "pass"}) == "3/3 single + PASS multi");
  CHECK(leg::needle_score({"pass", "fail", "no_answer", "fail"}) == "1/3 single + FAIL multi");
  CHECK(leg::needle_score({"pass", "pass", "pass", "no_answer"}) == "3/3 single + ? multi");
  CHECK(leg::needle_score({}) == "0/3 single + ? multi");
}

TEST_CASE("an honest engine finds all three facts, alone and in one reply, whatever the seed") {
  const test::SimEngine engine;
  for (const char* seed : {"7", "8", "9", "10"}) {
    CAPTURE(seed);
    const test::Ran ran = needle(engine.url(), {"--context", "4096", "--seed", seed, "--json"});
    CHECK(ran.code == 0);
    const Json json = parse_json(ran.out).value();
    CHECK(json["detail"].as_string() == "3/3 single + PASS multi");
    CHECK(json["passed"].as_int() == 4);
    REQUIRE(json["questions"].items().size() == 4);
    CHECK(json["questions"].items()[3]["form"].as_string() == "multi");
    CHECK(json["questions"].items()[3]["expected"].items().size() == 6);
    std::int64_t most = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      most = std::max(most, json["questions"].items()[i]["prompt_tokens"].as_int().value());
    }
    CHECK(most == 4096);
  }
}

TEST_CASE("an engine that loses deep facts fails") {
  const test::SimEngine engine({"--knob", "STRIDE_BUG=1"});
  const test::Ran ran = needle(engine.url(), {"--context", "32768"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Catch::Contains("=> 0/3 single + FAIL multi"));
}

TEST_CASE("missing answers leave the gate open; nothing answered ends with 3, wrong words with 2") {
  const test::SimEngine engine;
  const test::Ran cut = needle(engine.url(), {"--context", "2048", "--max-tokens", "3"});
  CHECK(cut.code == 4);
  CHECK_THAT(cut.out, Catch::Contains("4 without an answer (cut_by_length)"));
  const test::SimEngine small({"--max-model-len", "1024"});
  const test::Ran refused = needle(small.url(), {"--context", "2048"});
  CHECK(refused.code == 3);
  CHECK_THAT(refused.err, Catch::Contains("the server holds 1024 tokens only"));
  CHECK(needle(small.url(), {"--context", "1024"}).code == 0);
  CHECK(needle("http://127.0.0.1:1", {}).code == 3);
  CHECK(needle(engine.url(), {"--model", "nope"}).code == 2);
  CHECK(needle(engine.url(), {"--context", "many"}).code == 2);
}

TEST_CASE("a dry run asks nothing and prints the plan") {
  const test::Ran ran = needle("http://127.0.0.1:1", {"--dry-run", "--seed", "3"});
  CHECK(ran.code == 0);
  CHECK(parse_json(ran.out).value()["context_tokens"].as_int() == 256000);
  CHECK(parse_json(ran.out).value()["seed"].as_string() == "3");
}

}  // namespace
}  // namespace bk::needle_256k
