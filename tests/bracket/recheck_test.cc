#include "bracket/recheck.h"

#include <sqlite3.h>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "base/process.h"
#include "bracket/assess_bracket.h"
#include "bracket/execute.h"
#include "bracket/reassess.h"
#include "bracket/view.h"

using namespace bk;
using namespace bk::bracket;
using Finding = Recheck::Finding;

namespace {

/// A database with a judged bracket in it, its boots and samples made up.
class Judged {
 public:
  explicit Judged(int earlier = 0) : database_(*store::Database::open(path_)) {
    plan_.profile = "p", plan_.profile_hash = "hash", plan_.knob = "K", plan_.base_value = "0", plan_.cand_value = "1";
    plan_.base = {{"K", "0"}}, plan_.cand = {{"K", "1"}};
    plan_.order = boot_order(5);
    for (int i = 0; i < earlier; ++i) boot({}, i, "base", 60 + 0.3 * (i % 2));
    bracket_ = *store_plan(database_, plan_, "");
    for (int i = 0; i < 5; ++i) boot(bracket_, i, i % 2 == 0 ? "base" : "cand", i % 2 == 0 ? 60 + 0.1 * i : 63);
  }
  void judge() {
    const auto judgement = judge_bracket(database_, bracket_, plan_);
    REQUIRE(judgement);
    REQUIRE(database_.add_assessment(to_row(*judgement, plan_, bracket_)));
    REQUIRE(database_.set_bracket_state(bracket_, "done"));
  }
  void boot(std::optional<store::RowId> bracket, int position, const std::string& arm, double value,
            const std::string& state = "done", const std::string& reason = "") {
    store::BootRow row;
    row.bracket_id = bracket, row.host_id = *database_.add_host(store::this_host()), row.position = position;
    row.arm = arm, row.profile = "p", row.profile_hash = "hash", row.started_wall = ++clock_, row.ended_wall = clock_;
    row.state = state, row.reason = reason;
    const auto id = database_.begin_boot(row);
    REQUIRE(id);
    const auto leg = database_.begin_leg({0, "", {}, *id, "decode", "", "", "", 1, {}, "done", ""});
    REQUIRE(leg);
    for (const int i : {0, 1, 2}) {
      store::SampleRow sample;
      sample.leg_id = *leg, sample.cell = "C=1", sample.position = i, sample.ok = true;
      sample.metrics["decode_tok_s"] = {value + 0.2 * i, ""};
      sample.metrics["round_tok_s"] = {value + 0.2 * i - 5, ""};
      sample.accept_raw = 0.3 + 0.01 * i;
      REQUIRE(database_.add_sample(sample));
    }
  }
  void edit(const std::string& sql) {
    sqlite3* raw = nullptr;
    REQUIRE(sqlite3_open(path_.c_str(), &raw) == SQLITE_OK);
    REQUIRE(sqlite3_exec(raw, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(raw);
  }
  Recheck check() {
    const auto brackets = database_.list_brackets();
    REQUIRE(brackets);
    const auto found = Rechecker(database_).check(brackets->front());
    REQUIRE(found);
    return *found;
  }
  store::Database& database() { return database_; }
  Captured ledger(std::vector<std::string> words) const {
    words.insert(words.begin(), std::string(BK_BIN_DIR) + "/ledger");
    words.insert(words.end(), {"--db", path_});
    Command command;
    command.argv = std::move(words);
    const auto captured = run_captured(command, 60 * kSecond);
    REQUIRE(captured);
    return *captured;
  }
  const Plan& plan() const { return plan_; }
  store::RowId bracket() const { return bracket_; }

 private:
  TempDir dir_;
  std::string path_ = dir_.path() / "results.db";
  store::Database database_;
  Plan plan_;
  store::RowId bracket_ = 0;
  std::int64_t clock_ = 0;
};

}  // namespace

TEST_CASE("an assessment that was edited is found by its samples, and so is an edited sample", "[bracket]") {
  struct Row {
    std::string sql, found;
  };
  const Row rows[] = {
      {"UPDATE assessment SET state = 'worse'", "state is 'worse', by the samples 'better'"},
      {"UPDATE assessment SET reason = 'splendid'", "reason is 'splendid', by the samples 'The candidate"},
      {"UPDATE assessment SET reason_code = 'x'", "reason_code is 'x', by the samples 'effect_beyond_band'"},
      {"UPDATE assessment SET effect_raw_pct = effect_raw_pct + 0.01", "effect_raw_pct is "},
      {"UPDATE assessment SET effect_equal_acceptance_lo_pct = 3", "effect_equal_acceptance_lo_pct is 3.0, by"},
      {"UPDATE assessment SET p_value = p_value / 2", "p_value is "},
      {"UPDATE assessment SET boots_needed = 7", "boots_needed is 7, by the samples null"},
      {"UPDATE assessment SET metric = 'tpot_ms'", "metric is 'tpot_ms', by the samples 'decode_tok_s'"},
      {"UPDATE assessment SET historical_call = 'unresolved'", "historical_call is 'unresolved', by the samples"},
      {"UPDATE assessment SET detail_json = json_set(detail_json, '$.assessment.raw.p', 0.0001)",
       "detail.assessment.raw.p is 0.0001, by the samples "},
      {"UPDATE assessment SET detail_json = json_set(detail_json, '$.historical.leg_values[1]', 99)",
       "detail.historical.leg_values[1] is 99, by the samples "},
      {"UPDATE sample_metric SET value = 99 WHERE name = 'decode_tok_s' AND sample_id = 2", "reason is "},
      {"UPDATE boot SET arm = 'cand' WHERE id = 3", "state is 'better', by the samples 'inconclusive'"},
      {"UPDATE bracket SET cand_value = '2'", "cand_value is '2', by the stored plan '1'"},
      {"UPDATE bracket SET better = 'lower'", "better is 'lower', by the stored plan 'higher'"},
      {"UPDATE plan SET plan_json = replace(plan_json, '\"alpha\":0.05', '\"alpha\":0.5')", "the stored plan is not"},
      {"UPDATE bracket SET state = 'void'", "state is 'void', by the boots none of them is"},
      {"DELETE FROM assessment", "the assessment is gone"}};
  for (const Row& row : rows) {
    CAPTURE(row.sql);
    Judged db;
    db.judge();
    const Recheck before = db.check();
    CHECK(before.text.empty());
    CHECK(before.finding == Finding::kAgrees);
    db.edit(row.sql);
    const Recheck after = db.check();
    CHECK(after.finding == Finding::kDiffers);
    CHECK(after.text.substr(0, row.found.size()) == row.found);
  }
}

TEST_CASE("an assessment by another version of the rule is named, not made again", "[bracket]") {
  Judged db;
  db.judge();
  db.edit("UPDATE assessment SET state = 'worse', detail_json = json_set(detail_json, '$.rule_version', 99)");
  CHECK(db.check().finding == Finding::kNotJudged);
  CHECK(db.check().text == "made by rule version 99, this program has " + std::to_string(stats::kRuleVersion));
  db.edit("UPDATE assessment SET detail_json = json_remove(detail_json, '$.rule_version')");
  CHECK(db.check().finding == Finding::kNotJudged);
  CHECK(db.check().text == "made before rules had versions");
}

TEST_CASE("an assessment is made again by the earlier boots that it names, whatever was measured since", "[bracket]") {
  Judged db(4);
  db.judge();
  const store::AssessmentRow row = *db.database().list_brackets()->front().assessment;
  CHECK(row.reason.find("4 earlier base boots") != std::string::npos);
  CHECK(db.check().finding == Finding::kAgrees);
  for (int i = 0; i < 3; ++i) db.boot({}, i, "base", 50 + 5 * i);
  CHECK(db.check().finding == Finding::kAgrees);
  db.edit("UPDATE sample_metric SET value = 70 WHERE name = 'decode_tok_s' AND sample_id < 4");
  CHECK(db.check().finding == Finding::kDiffers);
  db.edit("UPDATE boot SET state = 'failed' WHERE id = 2");
  CHECK(db.check().finding == Finding::kNotJudged);
  CHECK(db.check().text == "1 of the 4 earlier boots that it names are not here");
}

TEST_CASE("a void bracket says what its boots said; one that is not at its end is not asked", "[bracket]") {
  Judged db;
  CHECK(db.check().finding == Finding::kNothingToDo);
  db.boot(db.bracket(), 5, "cand", 60, "void", "The engine restarted.");
  Judgement judgement = *judge_bracket(db.database(), db.bracket(), db.plan());
  judgement.assessment = stats::void_assessment("engine_restarted", "The engine restarted.");
  REQUIRE(db.database().add_assessment(to_row(judgement, db.plan(), db.bracket())));
  REQUIRE(db.database().set_bracket_state(db.bracket(), "void", "engine_restarted"));
  CHECK(db.check().text.empty());
  CHECK(db.check().finding == Finding::kAgrees);
  db.edit("UPDATE assessment SET reason = 'All was well.'");
  CHECK(db.check().text == "reason is 'All was well.', by the samples 'The engine restarted.'");
  db.edit("UPDATE assessment SET reason = 'The engine restarted.', state = 'better'");
  CHECK(db.check().text == "state is 'better', by the samples 'void'");
}

namespace {

/// What one run of reassess() says.
std::vector<Reassessed> reassessed(store::Database& database, bool write = true) {
  std::vector<Reassessed> out;
  REQUIRE(reassess(database, write, [&](const Reassessed& one) { out.push_back(one); }));
  return out;
}

const char* const kOld = "UPDATE assessment SET detail_json = json_remove(detail_json, '$.rule_version', '$.history')";

}  // namespace

TEST_CASE("an assessment of an older rule is made again; the older one and the verdict stay", "[bracket]") {
  Judged db(4);
  db.judge();
  const store::AssessmentRow first = db.database().assessments(db.bracket()).value().front();
  store::VerdictRow verdict;
  verdict.bracket_id = db.bracket(), verdict.assessment_id = first.id, verdict.word = "neutral";
  verdict.signed_by = "Kim", verdict.reason = "as it was";
  REQUIRE(db.database().add_verdict(verdict));
  CHECK(reassessed(db.database()).empty());  // it is of this rule

  db.edit(std::string(kOld) + ", state = 'same', reason_code = 'old_code'");
  REQUIRE(reassessed(db.database(), false).size() == 1);
  CHECK(db.database().assessments(db.bracket()).value().size() == 1);

  const auto done = reassessed(db.database());
  REQUIRE(done.size() == 1);
  CHECK(done[0].why_not.empty());
  CHECK(done[0].is_outdated());
  CHECK(done[0].before.signed_state == "same");
  const auto rows = db.database().assessments(db.bracket()).value();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].reason_code == "old_code");
  CHECK(rows[1].state == "better");
  CHECK(rows[1].created_wall > rows[0].created_wall);
  CHECK(parse_json(rows[1].detail_json).value()["replaces"]["uid"].as_string() == first.uid);
  CHECK(rows[1].reason == first.reason);  // by the four boots that had ended before
  const store::BracketSummary now = db.database().bracket_by_id(db.bracket()).value();
  CHECK(now.verdict->word == "neutral");
  CHECK(now.is_outdated());
  CHECK(db.database().replaced_assessments().value().size() == 1);
  CHECK(db.check().finding == Finding::kAgrees);
  CHECK(reassessed(db.database()).empty());

  verdict.uid.clear(), verdict.assessment_id = rows[1].id, verdict.created_wall = 1;
  REQUIRE(db.database().add_verdict(verdict));
  CHECK_FALSE(db.database().bracket_by_id(db.bracket()).value().is_outdated());
}

TEST_CASE("boots that ended after an assessment was made are none of its history", "[bracket]") {
  Judged db(4);
  db.judge();
  db.edit(kOld);
  db.edit("UPDATE boot SET ended_wall_ns = started_wall_ns");
  db.edit("UPDATE boot SET ended_wall_ns = 4000000000000000000 WHERE id <= 2");
  const auto done = reassessed(db.database());
  REQUIRE(done.size() == 1);
  CHECK(done[0].now->reason.find("judged by 2 earlier base boots") != std::string::npos);
}

TEST_CASE("what cannot be made again stays, and says why", "[bracket]") {
  Judged db(4);
  db.judge();
  db.edit("UPDATE assessment SET detail_json = json_set(detail_json, '$.rule_version', 99)");
  REQUIRE(reassessed(db.database()).size() == 1);
  CHECK(reassessed(db.database())[0].why_not.find("made by rule version 99, this program has ") == 0);
  db.edit("UPDATE assessment SET detail_json = json_set(detail_json, '$.rule_version', 0)");
  db.edit("UPDATE boot SET state = 'failed' WHERE id = 2");
  CHECK(reassessed(db.database())[0].why_not == "1 of the 4 earlier boots that it names are not here");
  db.edit("UPDATE boot SET state = 'done' WHERE id = 2");
  db.edit("UPDATE plan SET plan_json = replace(plan_json, '\"alpha\":0.05', '\"alpha\":0.5')");
  CHECK(reassessed(db.database())[0].why_not.find("the stored plan is not") == 0);
  CHECK(db.database().assessments(db.bracket()).value().size() == 1);
}

TEST_CASE("of two programs that make an assessment again, one does", "[bracket]") {
  Judged db;
  db.judge();
  store::AssessmentRow row = db.database().assessments(db.bracket()).value().front();
  const store::RowId stood = row.id;
  row.uid.clear(), ++row.created_wall;
  CHECK(db.database().replace_assessment(stood, row).value());
  row.uid.clear(), ++row.created_wall;
  CHECK_FALSE(db.database().replace_assessment(stood, row).value());
  CHECK(db.database().assessments(db.bracket()).value().size() == 2);
}

TEST_CASE("ledger reassess: one line a bracket, 1 when a signed one changed, and the page shows both",
          "[bracket][program]") {
  Judged db;
  db.judge();
  store::VerdictRow verdict;
  verdict.bracket_id = db.bracket(), verdict.word = "neutral", verdict.signed_by = "Kim", verdict.reason = "as it was";
  verdict.assessment_id = db.database().assessments(db.bracket()).value().front().id;
  REQUIRE(db.database().add_verdict(verdict));
  const Captured nothing = db.ledger({"reassess"});
  CHECK(nothing.exit.code == 0);
  CHECK(nothing.out.find("0 assessments made again by rule version ") == 0);
  db.edit(std::string(kOld) + ", state = 'same', reason_code = 'old_code', reason = 'An older sentence.'");

  const Captured dry = db.ledger({"reassess", "--dry-run"});
  CHECK(dry.exit.code == 1);
  CHECK(dry.out.find("1 assessments would be made again") != std::string::npos);
  const Captured done = db.ledger({"reassess"});
  CHECK(done.exit.code == 1);
  CHECK(done.out.find(" K 0 -> 1 (p): same, +") != std::string::npos);
  CHECK(done.out.find(" -> better, +") != std::string::npos);
  CHECK(done.out.find("; signed neutral when it was same: TO BE SIGNED AGAIN\n") != std::string::npos);
  CHECK(done.err.find("ledger: 1 signed when the assessment said another state") != std::string::npos);

  const std::string page = db.ledger({"render", "--out", "-"}).out;
  const char* const marked = "TO BE SIGNED AGAIN: signed when it was assessed same, which is better now";
  CHECK(page.find(marked) != std::string::npos);  // in the table of neutral ones
  CHECK(page.find("- **TO BE SIGNED AGAIN**: signed when") != std::string::npos);
  CHECK(page.find("- **verdict**: neutral, signed by Kim") != std::string::npos);
  CHECK(page.find("- **assessed before**: same (old_code) on ") != std::string::npos);
  CHECK(page.find(": An older sentence.\n") != std::string::npos);
  const std::string file = TempDir().path() / "absent.md";
  CHECK(db.ledger({"check", file}).err.find("was signed when it was assessed same, which is better now") !=
        std::string::npos);
}

TEST_CASE("a bracket whose stored plan was edited is shown all the same, without the plan", "[bracket]") {
  Judged db;
  db.judge();
  db.edit("UPDATE plan SET plan_json = replace(plan_json, '\"alpha\":0.05', '\"alpha\":0.5')");
  const std::string uid = db.database().bracket_by_id(db.bracket()).value().bracket.uid;
  const auto view = load_view(db.database(), uid);
  REQUIRE(view);
  CHECK_FALSE(view->plan);
  CHECK(view->boots.size() == 5);
  CHECK(view->assessment["state"].as_string() == "better");
}
