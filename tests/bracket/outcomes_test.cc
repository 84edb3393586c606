#include <catch2/catch.hpp>

#include "bracket/bench.h"

using namespace bk;
using bracket_tool::Bench;
using bracket_tool::json_of;

namespace {

/// Speculation off and on: more than twice the rate, far beyond what a busy machine does to it.
const char* const kSpec =
    "SPEC_TOKENS=5\nSPEC_TOKENS.range=0..7\nSPEC_TOKENS.flag=\"--knob SPEC_TOKENS={VALUE}\"\n"
    "SPEC_TOKENS.proof='log: ^proof SPEC_TOKENS={VALUE}$'\n";

/// Steps of 21 ms: a busy machine's delays are small beside them.
const char* const kSlow = "--speed 0.2";

Captured run_axis(const Bench& bench, const std::string& base, const std::string& cand, int boots,
                  std::vector<std::string> more = {}) {
  std::vector<std::string> words{
      "run",    "--profile", "spec",     "--base", base,        "--cand", cand, "--boots", std::to_string(boots),
      "--reps", "3",         "--tokens", "48",     "--no-gate", "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return bench.run(words);
}

}  // namespace

TEST_CASE("five outcomes by real runs: adopted, rejected, neutral, inconclusive", "[bracket][program]") {
  struct Row {
    std::string base, cand, state, word;
    int boots;
    std::vector<std::string> more;
  };
  const Row rows[] = {
      {"SPEC_TOKENS=0", "SPEC_TOKENS=5", "better", "adopted", 5, {}},
      {"SPEC_TOKENS=5", "SPEC_TOKENS=0", "worse", "rejected", 5, {}},
      // A band that no busy machine leaves: what is asked is whether the path ends in "same".
      {"NULLKNOB=0", "NULLKNOB=1", "same", "neutral", 5, {"--band", "90"}},
      // Two boots cannot tell the candidate from drift, whatever earlier boots say of noise.
      {"GATEFUSE=0", "GATEFUSE=1", "inconclusive", "deferred", 2, {}},
  };
  const Bench bench;
  bench.write_profile("spec", kSlow, "--knob GATEFUSE={VALUE}", kSpec);
  for (const Row& row : rows) {
    CAPTURE(row.cand, row.state);
    const Captured ran = run_axis(bench, row.base, row.cand, row.boots, row.more);
    INFO(ran.err);
    REQUIRE(ran.exit.code == 0);
    const Json doc = json_of(ran);
    CHECK(doc["assessment"]["state"].as_string() == row.state);
    const std::string uid = *doc["uid"].as_string();
    const Captured next = bench.run({"show", uid});
    CHECK(next.out.find("bracket verdict " + uid.substr(0, 8) + " " + row.word) != std::string::npos);
    CHECK(bench.run({"verdict", uid, row.word, "--by", "Kim", "--reason", "measured"}).exit.code == 0);
    CHECK(bench.run({"show", uid}).out.find(row.word + " by Kim: measured") != std::string::npos);
  }
  const Json list = json_of(bench.run({"list", "--json"}));
  REQUIRE(list["rows"].items().size() == 4);
  const auto id = [&](std::size_t i) { return *list["rows"].items()[i]["id"].as_string(); };
  const Captured compared = bench.run({"compare", id(0), id(1), id(3)});
  CHECK(compared.exit.code == 0);
  INFO(compared.out);
  CHECK(compared.out.find("scale") != std::string::npos);
  CHECK(compared.out.find(id(3) + "            no interval") != std::string::npos);
  CHECK(bench.run({"compare", id(0)}).exit.code == 2);
}

TEST_CASE("a plan that looks early ends when the answer is there, by a real run", "[bracket][program]") {
  const Bench bench;
  bench.write_profile("spec", kSlow, "--knob GATEFUSE={VALUE}", kSpec);
  const Captured ran = run_axis(bench, "SPEC_TOKENS=0", "SPEC_TOKENS=5", 5, {"--until-resolved", "--max-boots", "15"});
  INFO(ran.err);
  REQUIRE(ran.exit.code == 0);
  CHECK(ran.err.find("boots at each look and its alpha: 5 (") != std::string::npos);
  const Json doc = json_of(ran);
  CHECK(doc["state"].as_string() == "done");
  CHECK(doc["assessment"]["state"].as_string() == "better");
  const std::size_t boots = doc["boots"].items().size();
  CHECK(boots >= 5);
  CHECK(boots < 15);
  CHECK(boots % 2 == 1);  // only looks end a plan
  CHECK(bench.run({"resume", *doc["uid"].as_string()}).exit.code == 2);
}

TEST_CASE("a prompt out of the prefix cache voids a bracket, by a real run", "[bracket][program]") {
  const Bench bench;
  // The third request of each boot is answered as an engine does that asked the same prompt before.
  const std::string chunk =
      R"(data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"가\"}}]}\n\n)";
  const std::string usage =
      R"(data: {\"object\":\"chat.completion.chunk\",\"choices\":[],\"usage\":{\"prompt_tokens\":60,\"completion_tokens\":2,)"
      R"(\"total_tokens\":62,\"prompt_tokens_details\":{\"cached_tokens\":48}}}\n\ndata: [DONE]\n\n)";
  std::string script;
  script += R"({"request": 2, "at_ms": 5, "data": ")" + chunk + "\"}\n";
  script += R"({"request": 2, "at_ms": 15, "data": ")" + chunk + "\"}\n";
  script += R"({"request": 2, "at_ms": 20, "data": ")" + usage + "\"}\n";
  REQUIRE(write_file_atomic(bench.dir() / "cached.jsonl", script));
  bench.write_profile("cached", "--script " + (bench.dir() / "cached.jsonl").string(), "--knob GATEFUSE={VALUE}");
  const Captured ran = bench.bracket("cached");
  INFO(ran.err);
  CHECK(ran.exit.code == 5);
  const Json doc = json_of(ran);
  CHECK(doc["state"].as_string() == "void");
  CHECK(doc["assessment"]["reason"].as_string() == "prefix_cache_hit");
  CHECK(doc["assessment"]["sentence"].as_string()->find("48 of 60 prompt tokens") != std::string::npos);
}
