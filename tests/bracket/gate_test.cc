#include <catch2/catch.hpp>

#include "base/json.h"
#include "bracket/gates.h"
#include "store/gate_history.h"
#include "support/sim_engine.h"

using namespace bk;

namespace {

/// A directory with profiles of the embedded engine at fifty times its speed, and a database.
class Nights {
 public:
  explicit Nights(const std::string& more = {}, const std::string& lines = {}) {
    const std::string text =
        "COMMAND=\"{BIN}/sim-engine --speed 50 --host 127.0.0.1 --port {PORT} --seed {SEED} --served-model-name m " +
        more +
        "\"\nSERVED_MODEL=m\nREADY_TIMEOUT_S=30\nSTOP_GRACE_S=5\n"
        "STRIDE_BUG=0\nSTRIDE_BUG.values=\"0 1\"\nSTRIDE_BUG.flag=\"--knob STRIDE_BUG={VALUE}\"\n"
        "STRIDE_BUG.proof='log: ^proof STRIDE_BUG={VALUE}$'\n" +
        lines;
    REQUIRE(write_file_atomic(dir_.path() / "night.env", text));
  }
  [[nodiscard]] Captured gate(std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"bracket",
                                      "gate",
                                      "--profile",
                                      (dir_.path() / "night.env").string(),
                                      "--db",
                                      db(),
                                      "--needle-context",
                                      "4096",
                                      "--greedy-tokens",
                                      "40",
                                      "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return test::run_program(std::move(words), {}, dir_.path().string());
  }
  [[nodiscard]] std::string db() const { return dir_.path() / "results.db"; }

 private:
  TempDir dir_;
};

Json json_of(const Captured& captured) {
  INFO(captured.err);
  const auto doc = parse_json(captured.out);
  REQUIRE(doc);
  return *doc;
}

}  // namespace

TEST_CASE("nights on an honest engine pass, and the third is held against the texts of the two before", "[gate]") {
  const Nights nights;
  for (int night = 0; night < 3; ++night) {
    const Captured ran = nights.gate({"--contexts", "2K,32K"});
    INFO(ran.err << ran.out);
    CHECK(ran.exit.code == 0);
    const Json doc = json_of(ran);
    CHECK(doc["verdict"].as_string() == "pass");
    REQUIRE(doc["rows"].items().size() == 4);
    CHECK(doc["rows"].items()[0]["detail"].as_string() == "6/6 correct");
    CHECK(doc["rows"].items()[1]["detail"].as_string() == "3/3 single + PASS multi");
    CHECK(doc["rows"].items()[2]["detail"].as_string() == "0/16 dirty");
    CHECK(doc["rows"].items()[3]["verdict"].as_string() == (night < 2 ? "not_judged" : "pass"));
    auto database = store::Database::open(nights.db(), store::OpenMode::kReadOnly);
    REQUIRE(database);
    const auto run = database->run(night + 1);
    REQUIRE(run);
    REQUIRE(*run);
    CHECK((*run)->state == "done");
    CHECK((*run)->exit_code == 0);
  }
}

TEST_CASE("a defect that shows at depth fails the night, in a knob's other setting too", "[gate]") {
  const Nights nights;
  const Captured ran = nights.gate({"--contexts", "2K,32K", "--knobs", "STRIDE_BUG=1"});
  CHECK(ran.exit.code == 1);
  const Json doc = json_of(ran);
  CHECK(doc["verdict"].as_string() == "fail");
  CHECK(doc["rows"].items()[0]["detail"].as_string() == "3/6 correct");
  CHECK(nights.gate({"--knobs", "STRIDE_BUG=2"}).exit.code == 2);
  CHECK(nights.gate({"--contexts", "2M"}).exit.code == 2);
  CHECK(nights.gate({"--dry-run"}).exit.code == 0);
}

TEST_CASE("a night without an engine, with another engine, or with one that dies, is told apart", "[gate]") {
  const Captured other = Nights("", "STRIDE_BUG.flag.0=\"--knob STRIDE_BUG=1\"\n").gate({"--contexts", "2K"});
  CHECK(other.exit.code == 5);
  CHECK(other.err.find("STRIDE_BUG was asked to be 0; the engine says 1") != std::string::npos);
  const Captured dying = Nights("--fault die=4").gate({"--contexts", "2K"});
  CHECK(dying.exit.code == 3);
  CHECK(split_lines(dying.err).back().find("bracket: error: ") == 0);
  const Captured unserved = Nights("--no-such-flag").gate();
  CHECK(unserved.exit.code == 3);
  const Captured window = Nights("--max-model-len 8192").gate({"--contexts", "2K,32K"});
  CHECK(window.exit.code == 0);
  CHECK(json_of(window)["notes"].items()[0].as_string() ==
        "check-quality at 32768 tokens was not asked: the window holds 8192");
}

TEST_CASE("contexts are fitted to the window", "[gate]") {
  std::vector<std::string> notes;
  const bracket::GatesPlan same = bracket::fitted({}, 430'000, notes);
  CHECK(same.contexts.size() == 3);
  CHECK(same.needle_context == 256'000);
  CHECK(notes.empty());
  const bracket::GatesPlan small = bracket::fitted({}, 1024, notes);
  CHECK(small.contexts == std::vector<std::int64_t>{1024});
  CHECK(small.needle_context == 1024);
  CHECK(notes.size() == 4);
}

TEST_CASE("a night's verdict is its worst gate's, and what cannot be judged yet does not count", "[gate]") {
  using leg::GateVerdict;
  const auto night = [](std::vector<std::pair<GateVerdict, bool>> gates) {
    bracket::GatesOutcome outcome;
    for (const auto& [verdict, counts] : gates) {
      bracket::GateRun gate;
      gate.result.verdict = verdict;
      gate.counts = counts;
      outcome.gates.push_back(gate);
    }
    return outcome.verdict();
  };
  CHECK(night({}) == GateVerdict::kNoAnswer);
  CHECK(night({{GateVerdict::kPass, true}, {GateVerdict::kNoAnswer, false}}) == GateVerdict::kPass);
  CHECK(night({{GateVerdict::kPass, true}, {GateVerdict::kNoAnswer, true}}) == GateVerdict::kNoAnswer);
  CHECK(night({{GateVerdict::kNoAnswer, true}, {GateVerdict::kFail, true}}) == GateVerdict::kFail);
}
