#include <catch2/catch.hpp>

#include "base/json.h"
#include "leg/korean.h"
#include "run.h"
#include "support/run_in_process.h"
#include "support/sim_engine.h"

namespace bk::korean_corruption {
namespace {

test::Ran korean(const std::string& url, const cli::Args& more) {
  return test::run_against(url, "korean-corruption", run, more);
}

TEST_CASE("an honest engine is clean, whatever its seed") {
  for (const char* seed : {"1", "2", "3"}) {
    CAPTURE(seed);
    const test::SimEngine engine({"--seed", seed});
    const test::Ran ran = korean(engine.url(), {"--max-tokens", "64", "--concurrency", "8", "--json"});
    CHECK(ran.code == 0);
    const Json json = parse_json(ran.out).value();
    CHECK(json["detail"].as_string() == "0/16 dirty");
    CHECK(json["clean"].as_int() == 16);
    CHECK(json["characters"].as_int().value() > 16 * 20);
    CHECK(json["rows"].items().size() == 6);
  }
}

TEST_CASE("corruption planted in one reply of N is found at that rate") {
  const test::SimEngine engine({"--knob", "KOREAN_CORRUPT=1/20"});
  const std::string thinking_off = R"({"chat_template_kwargs": {"thinking": false}})";
  const test::Ran ran = korean(engine.url(), {"--rounds", "10", "--max-tokens", "64", "--concurrency", "8",
                                              "--extra-body", thinking_off, "--json"});
  CHECK(ran.code == 1);
  const Json json = parse_json(ran.out).value();
  CHECK(json["detail"].as_string() == "4/80 dirty");
  CHECK(json["verdict"].as_string() == "fail");
  REQUIRE(json["places"].items().size() == 4);
  CHECK(json["places"].items()[0]["characters"].as_string() == "U+FFFD");
  const Json& row = json["rows"].items()[0];
  CHECK(row["mark"].as_string() == "replacement");
  CHECK(row["replies"].as_int() == 4);
  const double expected = 4e6 / static_cast<double>(json["characters"].as_int().value());
  CHECK(row["per_million"].as_double().value() == Approx(expected));
  const test::Ran table =
      korean(engine.url(), {"--rounds", "3", "--max-tokens", "64", "--concurrency", "8", "--extra-body", thinking_off});
  CHECK_THAT(table.out, Catch::Contains("replacement U+FFFD: …"));
}

TEST_CASE("replies that say nothing of Korean text are no clean ones; failures have their codes") {
  const TempDir dir;
  const std::string script = (dir.path() / "s.jsonl").string();
  const std::string english =
      R"({"path": "/v1/chat/completions", "at_ms": 0, "stream": {"first_ms": 1, "every_ms": 1, "events": 3, "text": " sun"}})"
      "\n";
  REQUIRE(write_file_atomic(script, english));
  const test::SimEngine engine({"--script", script});
  const test::Ran ran = korean(engine.url(), {"--rounds", "1"});
  CHECK(ran.code == 4);
  CHECK_THAT(ran.out, Catch::Contains("=> 0/8 dirty, 8 without an answer (no_hangul)"));
  const test::SimEngine failing({"--fault", "503=1000"});
  const test::Ran failed = korean(failing.url(), {"--rounds", "1", "--json"});
  const Json unseen_marks = parse_json(failed.out).value();
  for (const Json& row : unseen_marks["rows"].items()) {
    for (const char* unseen : {"characters", "per_million", "replies"}) CHECK(row[unseen].is_null());
  }
  CHECK(failed.code == 3);
  CHECK_THAT(failed.err, Catch::Contains("no question was answered") && Catch::Contains("503"));
  CHECK(korean("http://127.0.0.1:1", {}).code == 3);
  CHECK(korean(engine.url(), {"--rounds", "0"}).code == 2);
}

TEST_CASE("a rate needs characters") {
  CHECK(leg::per_million(3, 0) == std::nullopt);
  CHECK(leg::per_million(3, 1'500'000) == 2.0);
}

}  // namespace
}  // namespace bk::korean_corruption
