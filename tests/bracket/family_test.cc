#include <signal.h>
#include <sqlite3.h>

#include <catch2/catch.hpp>

#include "bracket/bench.h"
#include "bracket/recheck.h"
#include "store/exchange.h"
#include "store/store.h"

using namespace bk;
using bracket_tool::Bench;
using bracket_tool::json_of;

namespace {

/// Speculation: from off to five drafted tokens more than twice the rate, far beyond what a busy machine does to it.
const char* const kKnobs =
    "SPEC_TOKENS=0\nSPEC_TOKENS.range=0..7\nSPEC_TOKENS.flag=\"--knob SPEC_TOKENS={VALUE}\"\n"
    "SPEC_TOKENS.proof='log: ^proof SPEC_TOKENS={VALUE}$'\n"
    "STRIDE_BUG=0\nSTRIDE_BUG.values=\"0 1\"\nSTRIDE_BUG.flag=\"--knob STRIDE_BUG={VALUE}\"\n"
    "STRIDE_BUG.proof='log: ^proof STRIDE_BUG={VALUE}$'\n";
/// Steps of 21 ms: a busy machine's delays are small beside them.
const char* const kSlow = "--speed 0.2";

std::vector<std::string> words(const std::string& kind, const std::vector<std::string>& knobs,
                               const std::vector<std::string>& more) {
  std::vector<std::string> out{kind, "--profile", "spec", "--reps", "2", "--warmup", "0"};
  for (const std::string& knob : knobs) out.insert(out.end(), {"--knob", knob});
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

const Json& arm_of(const Json& doc, const std::string& name) {
  for (const Json& arm : doc["arms"].items()) {
    if (arm["arm"].as_string() == name) return arm;
  }
  FAIL("no arm " << name);
  return doc;
}

std::string state_of(const Json& doc, const std::string& arm) {
  return arm_of(doc, arm)["assessment"]["state"].as_string().value_or("none");
}

/// What `ledger check` finds in each bracket, in the order of lists: "agrees", or its text.
std::vector<std::string> rechecked(const std::string& path) {
  auto database = store::Database::open(path);
  REQUIRE(database);
  bracket::Rechecker rechecker(*database);
  std::vector<std::string> out;
  const auto brackets = database->list_brackets().value();
  for (const store::BracketSummary& summary : brackets) {
    const auto found = rechecker.check(summary);
    REQUIRE(found);
    out.push_back(found->finding == bracket::Recheck::Finding::kAgrees ? "agrees" : found->text);
  }
  return out;
}

std::vector<std::string> all_agree(std::size_t n) { return std::vector<std::string>(n, "agrees"); }

void edit(const Bench& bench, const std::string& sql) {
  sqlite3* raw = nullptr;
  REQUIRE(sqlite3_open(bench.db().c_str(), &raw) == SQLITE_OK);
  CAPTURE(sql);
  REQUIRE(sqlite3_exec(raw, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  REQUIRE(sqlite3_changes(raw) > 0);
  sqlite3_close(raw);
}

}  // namespace

TEST_CASE("a sweep on the embedded engine: its peak, its comparisons, signing and the guard", "[bracket][program]") {
  const Bench bench;
  bench.write_profile("spec", kSlow, "--knob GATEFUSE={VALUE}", kKnobs);
  const Captured ran = bench.run(words("sweep", {"SPEC_TOKENS=0,1,5"}, {"--tokens", "48", "--no-gate", "--json"}));
  INFO(ran.err);
  REQUIRE(ran.exit.code == 0);
  CHECK(ran.err.find("plan: sweep SPEC_TOKENS 0,1,5 on profile spec; 7 boots of 3 arms") != std::string::npos);
  CHECK(ran.err.find("SPEC_TOKENS=5: calls an effect of ") != std::string::npos);
  const Json doc = json_of(ran);
  CHECK(doc["kind"].as_string() == "sweep");
  CHECK(doc["state"].as_string() == "done");
  REQUIRE(doc["arms"].items().size() == 3);
  CHECK(arm_of(doc, "SPEC_TOKENS=0")["boots_done"].as_int() == 3);
  CHECK(arm_of(doc, "SPEC_TOKENS=1")["boots_done"].as_int() == 2);
  CHECK(doc["order"].items().size() == 7);
  CHECK(state_of(doc, "SPEC_TOKENS=5") == "better");
  CHECK(doc["peak"]["arm"].as_string() == "SPEC_TOKENS=5");
  CHECK(doc["peak"]["curve"].items().size() == 2);
  for (const Json& name : doc["peak"]["may_be_best"].items()) CHECK(name.as_string() != "SPEC_TOKENS=0");

  const std::string whole = *doc["uid"].as_string(), five = *arm_of(doc, "SPEC_TOKENS=5")["uid"].as_string();
  const Json list = json_of(bench.run({"list", "--json"}));
  REQUIRE(list["rows"].items().size() == 3);
  CHECK(list["rows"].items()[0]["axis"].as_string() == "sweep SPEC_TOKENS 0,1,5");
  CHECK(list["rows"].items()[2]["axis"].as_string() == "SPEC_TOKENS 0 -> 5");
  CHECK(list["rows"].items()[2]["boots_done"].as_int() == 5);  // two of its own, three shared
  const Captured shown = bench.run({"show", five});
  CHECK(shown.out.find("SPEC_TOKENS held in 5 of 5 boots") != std::string::npos);
  CHECK(shown.out.find("part of               sweep " + whole.substr(0, 8)) != std::string::npos);
  CHECK(bench.run({"show", whole}).out.find("peak ") != std::string::npos);

  CHECK(rechecked(bench.db()) == all_agree(3));

  const Captured all = bench.run({"verdict", whole, "adopted", "--by", "Kim", "--reason", "best"});
  CHECK(all.exit.code == 2);
  CHECK(all.err.find("comparison by comparison") != std::string::npos);
  CHECK(bench.run({"verdict", five, "rejected", "--by", "Kim", "--reason", "costs memory", "--override", "memory"})
            .exit.code == 0);
  const Captured again = bench.run(words("sweep", {"SPEC_TOKENS=0,5"}, {"--no-gate"}));
  CHECK(again.exit.code == 2);
  CHECK(again.err.find("SPEC_TOKENS=5 was rejected by Kim") != std::string::npos);

  // A comparison's file carries the base boots that it shares.
  auto database = store::Database::open(bench.db());
  REQUIRE(database);
  const auto comparison = database->bracket(five).value().bracket;
  const TempDir other;
  auto copy = store::Database::open(other.path() / "copy.db");
  REQUIRE(copy);
  {
    auto importer = store::Importer::begin(*copy);
    REQUIRE(importer);
    REQUIRE(store::export_rows(*database, {store::ExportScope::Kind::kBracket, comparison.id, false},
                               [&](const store::TravelRow& row) { return importer->add(row); }));
    REQUIRE(importer->finish());
  }
  CHECK(copy->list_brackets().value().size() == 2);
  CHECK(copy->bracket(five).value().boots_done == 5);
  for (const std::string& found : rechecked(other.path() / "copy.db")) {
    CHECK(found == "1 of its 2 comparisons are not here");
  }
  CHECK(database->problems().value().empty());
}

TEST_CASE("a matrix: single arms, then the combined one and the interaction", "[bracket][program]") {
  const Bench bench;
  bench.write_profile("spec", kSlow, "--knob GATEFUSE={VALUE}", kKnobs);
  const Captured ran = bench.run(
      words("matrix", {"SPEC_TOKENS=0,5", "NULLKNOB=0,1"}, {"--tokens", "48", "--no-gate", "--json", "--band", "30"}));
  INFO(ran.err);
  REQUIRE(ran.exit.code == 0);
  const Json doc = json_of(ran);
  CHECK(doc["kind"].as_string() == "matrix");
  REQUIRE(doc["arms"].items().size() == 4);
  CHECK(state_of(doc, "SPEC_TOKENS=5") == "better");
  CHECK(state_of(doc, "NULLKNOB=1") != "better");
  // NULLKNOB has no effect, so both together are what SPEC_TOKENS is alone; with two boots of their own, one that a
  // busy machine disturbed may leave their interval wide.
  CHECK(state_of(doc, "NULLKNOB=1,SPEC_TOKENS=5") != "worse");
  const Json both = arm_of(doc, "NULLKNOB=1,SPEC_TOKENS=5")["assessment"];
  CHECK(both["raw"]["effect_pct"].as_double().value_or(0) > 30);
  REQUIRE(doc["interactions"].items().size() == 1);
  const Json& interaction = doc["interactions"].items()[0]["assessment"];
  CHECK(interaction["state"].as_string() != "better");
  CHECK(interaction["raw"]["effect_pct"].as_double());
  CHECK(doc["assessment_state"].as_string() == interaction["state"].as_string());
  const auto& order = doc["order"].items();
  REQUIRE(order.size() == 11);
  for (std::size_t i = 0; i < 7; ++i) CHECK(order[i].as_string() != "NULLKNOB=1,SPEC_TOKENS=5");
  CHECK(order[7].as_string() == "NULLKNOB=1,SPEC_TOKENS=5");
  const Captured shown = bench.run({"show", *arm_of(doc, "NULLKNOB=1,SPEC_TOKENS=5")["uid"].as_string()});
  CHECK(shown.out.find("held in 14 of 14") != std::string::npos);  // two knobs in seven boots

  CHECK(rechecked(bench.db()) == all_agree(4));
  // Everything that was judged together is made again together: a sample of one arm is in all of them.
  edit(bench, "UPDATE assessment SET p_value = p_value / 2 WHERE bracket_id = 3");
  CHECK(rechecked(bench.db())[2].find("p_value is ") == 0);
  edit(bench,
       "UPDATE assessment SET detail_json = json_set(detail_json, '$.family.answers[2].alpha', 0.5) "
       "WHERE bracket_id = 1");
  CHECK(rechecked(bench.db())[0].find("detail.family.answers[2].alpha is 0.5, by the samples ") == 0);
  edit(bench,
       "UPDATE sample_metric SET value = value * 3 WHERE name = 'decode_tok_s' AND sample_id IN (SELECT s.id "
       "FROM sample s JOIN leg l ON l.id = s.leg_id JOIN boot o ON o.id = l.boot_id WHERE o.position = 8)");
  const auto after = rechecked(bench.db());
  CHECK(after[0].find(", by the samples ") != std::string::npos);
  CHECK(after[1] == "agrees");  // judged at the end of the first stage, before that boot
  CHECK(after[3].find(", by the samples ") != std::string::npos);
}

TEST_CASE("a single arm that does not pass stops the combined one, not the others", "[bracket][program]") {
  struct Row {
    std::string name, flag, lines, why;
    std::vector<std::string> knobs, more;
    std::string state;
  };
  const std::string set = "--knob GATEFUSE={VALUE}";
  const Row rows[] = {
      // A knob that does not take: its comparison is void.
      {"not-taken",
       set,
       "GATEFUSE.flag.1=\"--knob GATEFUSE=0\"\n",
       "GATEFUSE=1 alone is void",
       {"GATEFUSE=0,1", "NULLKNOB=0,1"},
       {"--no-gate"},
       "void"},
      // A defect that the gate finds.
      {"defect",
       set,
       "",
       "STRIDE_BUG=1 alone did not pass check-quality",
       {"STRIDE_BUG=0,1", "NULLKNOB=0,1"},
       {"--gate-context", "8192"},
       "inconclusive"},
      // A value that measures worse.
      {"worse",
       set,
       "",
       "SPEC_TOKENS=0 alone measured worse",
       {"SPEC_TOKENS=5,0", "NULLKNOB=0,1"},
       {"--no-gate"},
       "worse"},
  };
  const Bench bench;
  for (const Row& row : rows) {
    CAPTURE(row.name);
    bench.write_profile("spec", row.name == "worse" ? kSlow : "", row.flag, std::string(kKnobs) + row.lines);
    std::vector<std::string> more{"--tokens", "32", "--json"};
    more.insert(more.end(), row.more.begin(), row.more.end());
    const Captured ran = bench.run(words("matrix", row.knobs, more));
    INFO(ran.err);
    REQUIRE(ran.exit.code == 0);
    const Json doc = json_of(ran);
    CHECK(doc["state"].as_string() == "done");
    CHECK(doc["assessment_reason"].as_string() == "combined_arm_not_measured");
    const Json& single = doc["arms"].items()[1];
    if (row.state != "inconclusive") CHECK(single["assessment"]["state"].as_string() == row.state);
    CHECK(arm_of(doc, "NULLKNOB=1")["boots_done"].as_int() == 2);
    const Json& combined = doc["arms"].items()[3];
    CHECK(combined["boots_done"].as_int() == 0);
    CHECK(combined["assessment"]["reason"].as_string() == "single_arm_not_passed");
    CHECK(combined["assessment"]["sentence"].as_string()->find(row.why) != std::string::npos);
    const auto found = rechecked(bench.db());
    CHECK(found == all_agree(found.size()));
  }
}

TEST_CASE("a fault in a shared base boot voids all comparisons", "[bracket][program]") {
  const Bench bench;
  bench.write_profile("spec", "", "--knob GATEFUSE={VALUE}",
                      std::string(kKnobs) + "GATEFUSE.flag.0=\"--knob GATEFUSE=1\"\n");
  const Captured ran =
      bench.run(words("matrix", {"GATEFUSE=0,1", "NULLKNOB=0,1"}, {"--tokens", "16", "--no-gate", "--json"}));
  INFO(ran.err);
  CHECK(ran.exit.code == 5);
  const Json doc = json_of(ran);
  CHECK(doc["state"].as_string() == "void");
  CHECK(doc["order"].items().size() == 1);
  for (std::size_t i = 1; i < 4; ++i)
    CHECK(doc["arms"].items()[i]["assessment"]["reason"].as_string() == "base_equals_cand");
  CHECK(doc["arms"].items()[0]["assessment"].is_null());
  CHECK(rechecked(bench.db()) == all_agree(4));
  CHECK(bench.run({"resume", *doc["uid"].as_string()}).exit.code == 2);
}

TEST_CASE("a sweep that was killed goes on where it stopped, by the id of any of its comparisons",
          "[bracket][program]") {
  const Bench bench;
  bench.write_profile("spec", "", "--knob GATEFUSE={VALUE}", kKnobs);
  auto started = Process::start([&] {
    Command c = bench.command(words("sweep", {"NULLKNOB=0,1"}, {"--tokens", "64", "--no-gate"}));
    c.output_file = bench.dir() / "out";
    return c;
  }());
  REQUIRE(started);
  SystemClock clock;
  const Nanos limit = clock.now() + 120 * kSecond;
  const auto third_began = [&] {
    return read_file(bench.dir() / "out").value_or("").find("boot 3/5 base · decode") != std::string::npos;
  };
  while (!third_began() && clock.now() < limit && !started->poll()) clock.sleep_until(clock.now() + 5 * kMillisecond);
  REQUIRE(third_began());
  ::kill(started->pid(), SIGKILL);
  CHECK(started->wait().code == 128 + SIGKILL);

  auto database = store::Database::open(bench.db());
  REQUIRE(database);
  const auto brackets = database->list_brackets().value();
  REQUIRE(brackets.size() == 2);
  CHECK(brackets[0].bracket.state == "running");
  const std::string whole = brackets[0].bracket.uid, comparison = brackets[1].bracket.uid;
  Command changed = bench.command({"resume", whole});
  changed.env.emplace("GATEFUSE", "1");
  const auto refused = run_captured(changed, 60 * kSecond);
  REQUIRE(refused);
  CHECK(refused->exit.code == 2);
  CHECK(refused->err.find("GATEFUSE") != std::string::npos);

  const Captured resumed = bench.run({"resume", comparison, "--json"});
  INFO(resumed.err);
  REQUIRE(resumed.exit.code == 0);
  CHECK(resumed.err.find("2 of 5 boots are done") != std::string::npos);
  CHECK(resumed.err.find("boot 2/5") == std::string::npos);
  const Json doc = json_of(resumed);
  CHECK(doc["uid"].as_string() == whole);
  CHECK(doc["state"].as_string() == "done");
  CHECK(doc["order"].items().size() == 5);
  CHECK(arm_of(doc, "NULLKNOB=1")["boots_done"].as_int() == 2);
  CHECK(bench.run({"resume", whole}).exit.code == 2);
  CHECK(rechecked(bench.db()) == all_agree(2));
}

TEST_CASE("what cannot be a matrix or sweep ends with one line before any boot", "[bracket][program]") {
  const Bench bench;
  bench.write_profile("spec", "", "--knob GATEFUSE={VALUE}", kKnobs);
  struct Row {
    std::string kind;
    std::vector<std::string> knobs, more;
    std::string error;
  };
  const Row rows[] = {{"sweep", {"GATEFUS=0,1"}, {}, "did you mean GATEFUSE?"},
                      {"sweep", {"GATEFUSE=1"}, {}, "one value"},
                      {"sweep", {"GATEFUSE=0,1,1"}, {}, "given twice"},
                      {"sweep", {"GATEFUSE=0,2"}, {}, "GATEFUSE"},
                      {"sweep", {"GATEFUSE=0,1", "NULLKNOB=0,1"}, {}, "bracket matrix"},
                      {"sweep", {"GATEFUSE=0,1"}, {"--set", "GATEFUSE=1"}, "is varied"},
                      {"sweep", {"GATEFUSE=0,1"}, {"--format", "csv"}, "none of table, json"},
                      {"matrix", {"GATEFUSE=0,1"}, {}, "bracket sweep"},
                      {"matrix", {"SPEC_TOKENS=0,1,2,3,4,5", "GATEFUSE=0,1", "NULLKNOB=0,1"}, {}, "at most 16"}};
  for (const Row& row : rows) {
    CAPTURE(row.error);
    const Captured ran = bench.run(words(row.kind, row.knobs, row.more));
    INFO(ran.err);
    CHECK(ran.exit.code == 2);
    CHECK(ran.out.empty());
    CHECK(ran.err.find("bracket: error: ") == 0);
    CHECK(ran.err.find(row.error) != std::string::npos);
  }
  const Captured dry = bench.run(words("matrix", {"GATEFUSE=0,1", "NULLKNOB=0,1"}, {"--dry-run"}));
  CHECK(dry.exit.code == 0);
  CHECK(dry.out.find("plan: combined arms, if these pass: GATEFUSE=1,NULLKNOB=1 · base") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(bench.db()));
}
