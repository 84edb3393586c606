#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "base/json.h"
#include "gate/divergence.h"
#include "run.h"
#include "support/run_in_process.h"
#include "support/sim_engine.h"

namespace bk::greedy_divergence {
namespace {

/// `n` prompts whose bases part at `natural` characters and whose candidate parts from both at `cand`.
std::vector<gate::GreedyTexts> prompts(int n, std::size_t natural, std::size_t cand) {
  const auto text = [](std::size_t same, char other) {
    return std::string(same, 'a') + std::string(300 - same, other);
  };
  std::vector<gate::GreedyTexts> all;
  for (int i = 0; i < n; ++i) all.push_back({{text(natural, 'b'), text(natural, 'c')}, {text(cand, 'd')}});
  return all;
}

TEST_CASE("the first difference is counted in characters") {
  struct Row {
    const char *a, *b;
    std::optional<std::int64_t> at;
  };
  const Row rows[] = {{"", "", {}}, {"same", "same", {}},    {"abc", "abd", 2},   {"ab", "abc", 2},
                      {"", "x", 0}, {"가나다", "가나라", 2}, {"가각", "가간", 1}, {"é", "è", 0}};
  for (const Row& row : rows) {
    CAPTURE(row.a, row.b);
    CHECK(gate::first_difference(row.a, row.b) == row.at);
    CHECK(gate::first_difference(row.b, row.a) == row.at);
  }
}

TEST_CASE("the sign test is the binomial tail") {
  CHECK(gate::sign_test(5, 5) == Approx(1.0 / 32));
  CHECK(gate::sign_test(9, 10) == Approx(11.0 / 1024));
  CHECK(gate::sign_test(0, 10) == Approx(1.0));
  CHECK(gate::sign_test(0, 0) == 1.0);
}

TEST_CASE("a candidate fails when it parts earlier than the bases, beyond tolerance and chance") {
  using gate::Verdict;
  struct Row {
    int n;
    std::size_t natural, cand;
    Verdict verdict;
  };
  const Row rows[] = {
      {12, 52, 55, Verdict::kPass},                                                // the ledger's first example
      {12, 60, 20, Verdict::kFail},          {4, 60, 20, Verdict::kInconclusive},  // too few prompts
      {12, 100, 96, Verdict::kInconclusive},  // every prompt earlier, but within the tolerance
      {12, 300, 300, Verdict::kPass},         // nothing ever parts
      {12, 300, 40, Verdict::kFail},          // bases never part, the candidate does
  };
  for (const Row& row : rows) {
    CAPTURE(row.n, row.natural, row.cand);
    CHECK(gate::judge_divergence(prompts(row.n, row.natural, row.cand)).verdict == row.verdict);
  }
  auto mixed = prompts(6, 50, 40);
  for (auto& other : prompts(6, 50, 290)) mixed.push_back(other);  // half earlier: 6 of 6, six alike at 50
  const gate::Divergence d = gate::judge_divergence(mixed);
  CHECK(d.natural_median_chars == 50.0);
  CHECK(d.earlier == 6);
}

TEST_CASE("boots of one engine pass among themselves, recorded or asked now") {
  const TempDir dir;
  const std::string b1 = (dir.path() / "b1.jsonl").string(), b2 = (dir.path() / "b2.jsonl").string();
  std::vector<std::string> sources = {b1, b2};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const test::SimEngine engine({"--boot-index", std::to_string(i)});
    const test::Ran ran = test::run_in_process(
        "greedy-divergence", run, {"--record", "--base-url", engine.url(), "--out", sources[i], "--max-tokens", "60"});
    REQUIRE(ran.code == 0);
  }
  const test::SimEngine cand({"--boot-index", "2", "--knob", "GATEFUSE=1"});
  const test::Ran ran = test::run_in_process(
      "greedy-divergence", run, {"--base", b1, "--base", b2, "--cand", cand.url(), "--max-tokens", "60", "--json"});
  CHECK(ran.code == 0);
  const Json json = parse_json(ran.out).value();
  CHECK(json["verdict"].as_string() == "pass");
  CHECK(json["rows"].items().size() == 12);
  CHECK(json["natural_median_chars"].as_double().value() > 5);

  std::string early;
  for (const Json& row : json["rows"].items()) {
    early += Json::object().set("prompt", row["prompt"]).set("text", "@").dump() + "\n";
  }
  const std::string broken = (dir.path() / "c.jsonl").string();
  REQUIRE(write_file_atomic(broken, early));
  const test::Ran found =
      test::run_in_process("greedy-divergence", run, {"--base", b1, "--base", b2, "--cand", broken});
  CHECK(found.code == 1);
  CHECK_THAT(found.out, Catch::Contains("=> fail: candidate parts at 0 characters"));
}

TEST_CASE("wrong input is named in one line") {
  const TempDir dir;
  const auto file = [&dir](const std::string& name, const std::string& bytes) {
    REQUIRE(write_file_atomic(dir.path() / name, bytes));
    return (dir.path() / name).string();
  };
  const std::string good = file("good", R"({"prompt": "p", "text": "t"})");
  const std::string other = file("other", R"({"prompt": "q", "text": "t"})");
  struct Row {
    cli::Args args;
    int code;
    const char* text;
  };
  const Row rows[] = {
      {{"--base", good, "--cand", good}, 2, "at least two boots"},
      {{"--base", good, "--base", good}, 2, "no texts of the candidate"},
      {{"--base", good, "--base", good, "--cand", other}, 2, "different prompts"},
      {{"--base", good, "--base", file("bad", "\n{"), "--cand", good}, 2, "bad:2"},
      {{"--base", good, "--base", file("empty", ""), "--cand", good}, 2, "no text in the file"},
      {{"--base", good, "--base", file("twice", fmt::format("{0}\n{0}\n", R"({"prompt":"p","text":"t"})")), "--cand",
        good},
       2,
       "stands twice"},
      {{"--base", good, "--base", "/nonexistent/x", "--cand", good}, 3, "/nonexistent/x"},
      {{"--base", good, "--base", good, "--cand", "http://127.0.0.1:1"}, 3, "127.0.0.1"},
      {{"--base", good, "--base", good, "--cand", good}, 4, ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const test::Ran ran = test::run_in_process("greedy-divergence", run, row.args);
    CHECK(ran.code == row.code);
    CHECK_THAT(ran.err, Catch::Contains(row.text));
  }
}

}  // namespace
}  // namespace bk::greedy_divergence
