#include <catch2/catch.hpp>

#include "base/file.h"
#include "rows_fixture.h"

using namespace bk;
using namespace bk::store;

namespace {

BootRow boot_row(std::optional<RowId> bracket, const std::string& uid, const std::string& arm, std::int64_t position) {
  BootRow boot;
  boot.uid = uid, boot.bracket_id = bracket, boot.arm = arm, boot.position = position, boot.profile = "sim";
  boot.started_wall = 100 + position, boot.state = "done";
  return boot;
}

/// A boot with a warm-up and the given samples of decode_tok_s in cell C=1.
void fill(Database& db, const BootRow& boot, const std::vector<double>& values) {
  const RowId id = db.begin_boot(boot).value();
  const RowId leg = db.begin_leg({0, "", {}, id, "decode", "", "", "", 1, {}, "done", ""}).value();
  std::int64_t position = 0;
  const auto add = [&](double value, bool warmup) {
    SampleRow sample;
    sample.leg_id = leg, sample.cell = "C=1", sample.position = position++, sample.warmup = warmup, sample.ok = true;
    sample.accept_raw = value / 100;
    sample.metrics["decode_tok_s"] = {value, ""};
    sample.metrics["ttft_ms"] = {std::nullopt, "no_events"};
    REQUIRE(db.add_sample(sample));
  };
  add(1, true);
  for (const double value : values) add(value, false);
}

RowId bracket_of(Database& db, const std::string& uid) {
  BracketRow row = fixture::full_bracket();
  PlanRow plan = fixture::full_plan();
  row.uid = uid, plan.uid = uid;
  return db.create_bracket(plan, row).value();
}

}  // namespace

TEST_CASE("metric points leave warm-ups out and say whose they are") {
  TempDir dir;
  Database db = Database::open(dir.path() / "results.db").value();
  const RowId bracket = bracket_of(db, "first000");
  fill(db, boot_row(bracket, "b1", "cand", 1), {64});
  fill(db, boot_row(bracket, "b0", "base", 0), {62, 63});
  fill(db, boot_row(bracket_of(db, "other000"), "b2", "base", 0), {70});

  std::vector<double> seen;
  const std::vector<MetricPoint> points = db.metric_points(bracket).value();
  for (const MetricPoint& p : points) {
    CHECK(p.leg == "decode");
    CHECK(p.cell == "C=1");
    CHECK(p.sample_ok);
    if (p.metric == "ttft_ms") {
      CHECK(p.value == Value{std::nullopt, "no_events"});
    } else {
      CHECK(p.arm == (p.boot_position == 0 ? "base" : "cand"));
      CHECK(p.accept_raw == Approx(*p.value.value / 100));
      seen.push_back(*p.value.value);
    }
  }
  CHECK(seen == std::vector<double>{62, 63, 64});
}

TEST_CASE("history is the finished base boots of a profile, outside one bracket") {
  TempDir dir;
  Database db = Database::open(dir.path() / "results.db").value();
  const RowId host = db.add_host(fixture::full_host()).value();
  const RowId first = bracket_of(db, "first000");
  const RowId second = bracket_of(db, "second00");
  BootRow base = boot_row(first, "b0", "base", 0);
  base.host_id = host;
  fill(db, base, {62, 63});
  fill(db, boot_row(first, "b1", "cand", 1), {64});
  BootRow broken = boot_row(first, "b2", "base", 2);
  broken.state = "void";
  fill(db, broken, {1});
  fill(db, boot_row(second, "b3", "base", 3), {61});
  fill(db, boot_row(std::nullopt, "b4", "base", 4), {60});
  BootRow other = boot_row(std::nullopt, "b5", "base", 5);
  other.profile = "vllm";
  fill(db, other, {9});

  const HistoryScope scope{"sim", "decode_tok_s", "C=1", {}, {}, 9};
  const auto all = db.base_history(scope).value();
  REQUIRE(all.size() == 3);
  CHECK(all[0].boot.uid == "b0");
  CHECK(all[0].host_fingerprint == "f1n6e2");
  CHECK(all[0].bracket_uid == "first000");
  REQUIRE(all[0].points.size() == 2);
  CHECK(all[0].points[1].value.value == 63);
  CHECK(all[2].boot.uid == "b4");
  CHECK(all[2].bracket_uid.empty());

  HistoryScope other_scope = scope;
  other_scope.except_bracket = second;
  const auto without = db.base_history(other_scope).value();
  REQUIRE(without.size() == 2);
  CHECK(without[1].boot.uid == "b4");
  other_scope.cell = "C=2";
  CHECK(db.base_history(other_scope).value().empty());
  HistoryScope two = scope;
  two.most = 2;
  const auto newest = db.base_history(two).value();
  REQUIRE(newest.size() == 2);
  CHECK(newest[0].boot.uid == all[1].boot.uid);  // the newest, oldest first
  CHECK(db.history_boot("b4", "decode_tok_s", "C=1").value()->points.size() == all[2].points.size());
  CHECK_FALSE(db.history_boot("b4", "decode_tok_s", "C=2").value());
  CHECK_FALSE(db.history_boot("absent", "decode_tok_s", "C=1").value());
}

TEST_CASE("the newest verdict decides whether an axis counts as rejected") {
  TempDir dir;
  Database db = Database::open(dir.path() / "results.db").value();
  const RowId bracket = bracket_of(db, "first000");
  CHECK(db.rejected("sim", "GATEFUSE", "1").value().empty());
  VerdictRow verdict{0, "", bracket, std::nullopt, "rejected", "", "A. Nyman", "slower", "", 10};
  REQUIRE(db.add_verdict(verdict));
  CHECK(db.rejected("sim", "GATEFUSE", "1").value().at(0).verdict->reason == "slower");
  CHECK(db.rejected("sim", "GATEFUSE", "2").value().empty());
  CHECK(db.rejected("vllm", "GATEFUSE", "1").value().empty());
  verdict.word = "adopted", verdict.created_wall = 20;
  REQUIRE(db.add_verdict(verdict));
  CHECK(db.rejected("sim", "GATEFUSE", "1").value().empty());
  verdict.word = "perhaps";
  CHECK_FALSE(db.add_verdict(verdict));
  verdict.word = "adopted", verdict.signed_by = "";
  CHECK_FALSE(db.add_verdict(verdict));
}

TEST_CASE("gates are tallied over the boots that are done") {
  TempDir dir;
  Database db = Database::open(dir.path() / "results.db").value();
  const RowId bracket = bracket_of(db, "first000");
  std::int64_t position = 0;
  for (const char* state : {"done", "done", "void"}) {
    BootRow boot = boot_row(bracket, "", "base", position++);
    boot.state = state;
    const RowId leg =
        db.begin_leg({0, "", {}, db.begin_boot(boot).value(), "quality", "", "", "", 1, {}, "done", ""}).value();
    GateRow gate = fixture::full_gate(leg);
    gate.uid = "", gate.verdict = position == 1 ? "pass" : "fail";
    REQUIRE(db.add_gate(gate));
  }
  const BracketSummary summary = db.list_brackets().value().at(0);
  CHECK(summary.boots_done == 2);
  CHECK(summary.gates_passed == 1);
  CHECK(summary.gates_asked == 2);
  const auto gates = db.gates(bracket).value();
  REQUIRE(gates.size() == 3);
  CHECK(gates[0].questions.at(1).verdict == "no_answer");
}
