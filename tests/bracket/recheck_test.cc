#include "bracket/recheck.h"

#include <sqlite3.h>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "bracket/assess_bracket.h"
#include "bracket/execute.h"

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
    row.arm = arm, row.profile = "p", row.profile_hash = "hash", row.started_wall = ++clock_;
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
