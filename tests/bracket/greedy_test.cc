#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <random>

#include "bracket/bench.h"
#include "bracket/recheck.h"
#include "gate/divergence.h"
#include "store/store.h"

using namespace bk;
using bracket_tool::Bench;
using bracket_tool::json_of;

namespace {

/// A defect that moves the text, and the gate that finds it, asked in every boot.
const char* const kLines =
    "GATES=greedy-divergence\n"
    "LOGIT_BUG=0\nLOGIT_BUG.values=\"0 1\"\nLOGIT_BUG.flag=\"--knob LOGIT_BUG={VALUE}\"\n"
    "LOGIT_BUG.proof='log: ^proof LOGIT_BUG={VALUE}$'\n";

std::vector<std::string> words(const std::string& knob, int boots, std::vector<std::string> more = {}) {
  std::vector<std::string> out{"run",       "--profile", "greedy",
                               "--base",    knob + "=0", "--cand",
                               knob + "=1", "--boots",   std::to_string(boots),
                               "--reps",    "2",         "--greedy-tokens",
                               "60",        "--tokens",  "32",
                               "--json"};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

/// The gate of the comparison, which stands in one boot alone.
Json comparison(const Json& doc, int* boot = nullptr) {
  Json found;
  for (const Json& row : doc["boots"].items()) {
    for (const Json& gate : row["gates"].items()) {
      if (gate["name"].as_string() != "greedy-divergence") continue;
      CHECK(found.is_null());
      found = gate;
      if (boot != nullptr) *boot = static_cast<int>(*row["position"].as_int());
    }
  }
  return found;
}

}  // namespace

TEST_CASE("greedy texts are kept in every boot and compared arm against arm", "[bracket][program]") {
  const Bench bench;
  bench.write_profile("greedy", "", "--knob GATEFUSE={VALUE}", kLines);
  const Captured ran = bench.run(words("GATEFUSE", 5));
  INFO(ran.err);
  REQUIRE(ran.exit.code == 0);
  CHECK(ran.err.find("greedy-divergence over 60 tokens") != std::string::npos);
  const Json doc = json_of(ran);
  for (const Json& boot : doc["boots"].items()) {
    CHECK(boot["gates"].items()[0]["name"].as_string() == "greedy-texts");
    CHECK(boot["gates"].items()[0]["passed"].as_int() == 12);
  }
  int boot = -1;
  const Json gate = comparison(doc, &boot);
  CHECK(boot == 3);  // the candidate's last
  CHECK(gate["verdict"].as_string() == "pass");
  CHECK(gate["asked"].as_int() == 12);
  CHECK(doc["gates_failed"].as_int() == 0);
}

TEST_CASE("a candidate that moves the text fails, is not adopted without saying why, and cannot be edited away",
          "[bracket][program]") {
  const Bench bench;
  bench.write_profile("greedy", "", "--knob GATEFUSE={VALUE}", kLines);
  const Captured ran = bench.run(words("LOGIT_BUG", 5));
  INFO(ran.err);
  REQUIRE(ran.exit.code == 0);
  const Json doc = json_of(ran);
  const Json gate = comparison(doc);
  CHECK(gate["verdict"].as_string() == "fail");
  CHECK(*gate["passed"].as_int() < 3);
  CHECK(doc["gates_failed"].as_int() == 1);
  CHECK(doc["next"].as_string() == "look at the 1 gates that did not pass before signing anything");
  const std::string uid = *doc["uid"].as_string();
  const Captured signing = bench.run({"verdict", uid, "adopted", "--by", "Kim", "--reason", "x"});
  CHECK(signing.exit.code == 2);
  CHECK(signing.err.find("1 gates did not pass") != std::string::npos);

  const auto checked = [&bench, &uid] {
    auto database = store::Database::open(bench.db());
    REQUIRE(database);
    const auto found = bracket::Rechecker(*database).check(database->bracket(uid).value());
    REQUIRE(found);
    return *found;
  };
  CHECK(checked().finding == bracket::Recheck::Finding::kAgrees);
  sqlite3* raw = nullptr;
  REQUIRE(sqlite3_open(bench.db().c_str(), &raw) == SQLITE_OK);
  const char* edit = "UPDATE gate SET verdict = 'pass' WHERE name = 'greedy-divergence'";
  REQUIRE(sqlite3_exec(raw, edit, nullptr, nullptr, nullptr) == SQLITE_OK);
  REQUIRE(sqlite3_close(raw) == SQLITE_OK);
  CHECK(checked().text == "greedy-divergence is 'pass', by the texts 'fail'");
}

TEST_CASE("too few boots or half a boot's texts are no answer", "[bracket][program]") {
  const Bench bench;
  bench.write_profile("greedy", "", "--knob GATEFUSE={VALUE}", kLines);
  const Captured two = bench.run(words("GATEFUSE", 2));
  REQUIRE(two.exit.code == 0);
  const Json doc = json_of(two);
  CHECK(comparison(doc)["verdict"].as_string() == "no_answer");
  CHECK(doc["gates_failed"].as_int() == 1);
  const Captured none = bench.run(words("GATEFUSE", 2, {"--gates", "check-quality"}));
  CHECK(comparison(json_of(none)).is_null());
  CHECK(json_of(none)["boots"].items()[0]["gates"].items()[0]["name"].as_string() == "check-quality");
  const Captured wrong = bench.run(words("GATEFUSE", 2, {"--gates", "greedy-divergense"}));
  CHECK(wrong.exit.code == 2);
  CHECK(wrong.err.find("did you mean greedy-divergence?") != std::string::npos);
  CHECK(bench.run(words("GATEFUSE", 2, {"--gates", "check-quality", "--no-gate"})).exit.code == 2);
}

TEST_CASE("a combined arm is not booted when one of its knobs moves the text", "[bracket][program]") {
  const Bench bench;
  bench.write_profile("greedy", "", "--knob GATEFUSE={VALUE}", kLines);
  const Captured ran = bench.run({"matrix", "--profile", "greedy", "--knob", "LOGIT_BUG=0,1", "--knob", "NULLKNOB=0,1",
                                  "--reps", "2", "--tokens", "32", "--greedy-tokens", "60", "--json"});
  INFO(ran.err);
  REQUIRE(ran.exit.code == 0);
  CHECK(ran.err.find("LOGIT_BUG=1 alone did not pass greedy-divergence") != std::string::npos);
}

TEST_CASE("with several boots an arm, the rule's false alarms stay within alpha, and an earlier parting is found") {
  // A boot's text leaves the prompt's own after an exponential length; two boots part where the first of them leaves.
  std::mt19937_64 random(7);
  struct Row {
    int bases, cands;
    double cand_length;
  };
  for (const Row& row : {Row{2, 1, 60}, Row{3, 2, 60}, Row{5, 4, 60}, Row{2, 1, 6}, Row{5, 4, 6}}) {
    int failed = 0;
    constexpr int kTrials = 400;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<gate::GreedyTexts> prompts(12);
      for (gate::GreedyTexts& one : prompts) {
        const auto write = [&](double length, int boot) {
          const auto own = static_cast<std::size_t>(std::exponential_distribution<>(1 / length)(random));
          return std::string(std::min<std::size_t>(own, 300), 'a') + std::string(300, static_cast<char>('b' + boot));
        };
        for (int b = 0; b < row.bases; ++b) one.base.push_back(write(60, b));
        for (int c = 0; c < row.cands; ++c) one.cand.push_back(write(row.cand_length, 10 + c));
      }
      failed += gate::judge_divergence(prompts).verdict == gate::Verdict::kFail ? 1 : 0;
    }
    CAPTURE(row.bases, row.cands, row.cand_length, failed);
    if (row.cand_length == 60) {
      CHECK(failed <= 0.05 * kTrials);
    } else {
      CHECK(failed >= 0.6 * kTrials);
    }
  }
}
