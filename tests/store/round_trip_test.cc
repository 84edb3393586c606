#include <catch2/catch.hpp>
#include <limits>

#include "base/file.h"
#include "rows_fixture.h"

using namespace bk;
using namespace bk::store;

namespace {

/// A database in a directory of its own.
struct Scratch {
  TempDir dir;
  Database db = Database::open(dir.path() / "results.db").value();
};

}  // namespace

TEST_CASE("every field of every row comes back as it was written, and nothing as nothing") {
  Scratch s;
  Database& db = s.db;
  HostRow host = fixture::full_host();
  host.id = db.add_host(host).value();
  CHECK(db.add_host(host).value() == host.id);
  CHECK(db.host(host.id).value() == host);

  RunRow run{0, "run-1", "bracket", "0.1.0", "abcdef", R"(["run"])", host.id, std::nullopt, 42, 5, 6, 4, "done", "why"};
  run.id = db.begin_run(run).value();
  CHECK(db.run(run.id).value() == run);
  RunRow bare_run;
  bare_run.uid = "run-2", bare_run.program = "bench-dec";
  bare_run.id = db.begin_run(bare_run).value();
  CHECK(db.run(bare_run.id).value() == bare_run);
  CHECK_FALSE(db.run(99).value());

  BracketRow bracket = fixture::full_bracket();
  bracket.id = db.create_bracket(fixture::full_plan(), bracket).value();
  BracketSummary summary = db.bracket(bracket.uid).value();
  bracket.plan_id = summary.bracket.plan_id;
  CHECK(summary.bracket == bracket);
  CHECK_FALSE(summary.assessment);
  CHECK_FALSE(summary.verdict);
  PlanRow plan = fixture::full_plan();
  plan.id = bracket.plan_id.value();
  CHECK(db.plan(plan.id).value() == plan);
  REQUIRE(db.set_run_bracket(run.id, bracket.id));
  CHECK(db.run(run.id).value()->bracket_id == bracket.id);

  BootRow boot = fixture::full_boot();
  boot.bracket_id = bracket.id, boot.host_id = host.id;
  boot.id = db.begin_boot(boot).value();
  BootRow bare_boot;
  bare_boot.uid = "boot-0", bare_boot.arm = "base", bare_boot.bracket_id = bracket.id;
  bare_boot.id = db.begin_boot(bare_boot).value();
  CHECK(db.boots(bracket.id).value() == std::vector<BootRow>{bare_boot, boot});

  ProofRow proof{0, "proof-1", boot.id, "GATEFUSE", "log", "line 3", "gatefuse=1", "gatefuse=1", "held", "seen", 9};
  proof.id = db.add_proof(proof).value();
  CHECK(db.proofs(bracket.id).value() == std::vector<ProofRow>{proof});

  LegRow leg = fixture::full_leg(run.id, boot.id);
  leg.id = db.begin_leg(leg).value();
  CHECK(db.legs(boot.id).value() == std::vector<LegRow>{leg});

  AssessmentRow old = fixture::empty_assessment(bracket.id);
  AssessmentRow fresh = fixture::full_assessment(bracket.id);
  fresh.id = db.add_assessment(fresh).value();
  old.id = db.add_assessment(old).value();
  CHECK(db.assessments(bracket.id).value() == std::vector<AssessmentRow>{old, fresh});
  VerdictRow verdict = fixture::full_verdict(bracket.id, fresh.id);
  verdict.id = db.add_verdict(verdict).value();
  CHECK(db.verdicts(bracket.id).value() == std::vector<VerdictRow>{verdict});
  summary = db.bracket("br4c").value();
  CHECK(summary.assessment == fresh);
  CHECK(summary.verdict == verdict);
  CHECK(summary.boots_done == 1);

  NoteRow note{0, "note-1", "axis", "GATEFUSE", "A. Nyman", "see | there", 11};
  note.id = db.add_note(note).value();
  CHECK(db.notes().value() == std::vector<NoteRow>{note});
}

TEST_CASE("samples and gates come back with metrics, questions, requests and events") {
  Scratch s;
  Database& db = s.db;
  const RowId leg = db.begin_leg({0, "", {}, {}, "decode", "", "", "", 1, {}, "running", ""}).value();
  SampleRow full = fixture::full_sample(leg);
  SampleRow empty = fixture::empty_sample(leg);
  full.id = db.add_sample(full).value();
  empty.id = db.add_sample(empty).value();

  std::vector<RequestRow> requests = db.requests(full.id).value();
  REQUIRE(requests.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    RequestRow want = full.requests[i];
    want.id = requests[i].id, want.sample_id = full.id, want.position = static_cast<std::int64_t>(i);
    CHECK(requests[i] == want);
  }
  full.requests.clear();
  CHECK(db.samples(leg).value() == std::vector<SampleRow>{full, empty});
  CHECK(db.requests(empty.id).value().empty());

  GateRow gate = fixture::full_gate(leg);
  gate.id = db.add_gate(gate).value();
  requests = db.gate_requests(gate.id).value();
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].gate_id == gate.id);
  CHECK_FALSE(requests[0].sample_id);
  gate.requests.clear();
  CHECK(db.leg_gates(leg).value() == std::vector<GateRow>{gate});
}

TEST_CASE("a number that is not finite is stored as missing, with a reason") {
  Scratch s;
  const RowId leg = s.db.begin_leg({0, "", {}, {}, "decode", "", "", "", 1, {}, "running", ""}).value();
  SampleRow sample = fixture::empty_sample(leg);
  sample.accept_raw = std::numeric_limits<double>::quiet_NaN();
  sample.metrics = {{"nan", {std::numeric_limits<double>::quiet_NaN(), ""}},
                    {"inf", {std::numeric_limits<double>::infinity(), ""}},
                    {"silent", {std::nullopt, ""}},
                    {"both", {2.5, "a reason that does not apply"}}};
  REQUIRE(s.db.add_sample(sample));
  const SampleRow back = s.db.samples(leg).value().at(0);
  CHECK_FALSE(back.accept_raw);
  CHECK(back.metrics.at("nan") == Value{std::nullopt, "not_finite"});
  CHECK(back.metrics.at("inf") == Value{std::nullopt, "not_finite"});
  CHECK(back.metrics.at("silent") == Value{std::nullopt, "unstated"});
  CHECK(back.metrics.at("both") == Value{2.5, ""});
}

TEST_CASE("what begins is ended once, and an id that names nothing is refused") {
  Scratch s;
  Database& db = s.db;
  const RowId bracket = db.create_bracket(fixture::full_plan(), fixture::full_bracket()).value();
  BootRow boot = fixture::full_boot();
  boot.bracket_id = bracket, boot.ready_wall = boot.ended_wall = std::nullopt, boot.state = "starting";
  boot.id = db.begin_boot(boot).value();
  boot.model = "confirmed-model", boot.ready_wall = 4'100, boot.state = "running";
  REQUIRE(db.update_boot(boot));
  CHECK(db.boots(bracket).value().at(0) == boot);
  REQUIRE(db.end_boot(boot.id, "void", "proof failed"));
  const BootRow ended = db.boots(bracket).value().at(0);
  CHECK(ended.state == "void");
  CHECK(ended.reason == "proof failed");
  CHECK(ended.ended_wall.value_or(0) > 0);
  REQUIRE(db.set_bracket_state(bracket, "running"));
  CHECK_FALSE(db.bracket("br4cket0").value().bracket.ended_wall);

  const auto no_boot = db.end_boot(99, "done");
  REQUIRE_FALSE(no_boot);
  CHECK(no_boot.error().code == Errc::kUsage);
  CHECK(no_boot.error().text() == "no boot has the id 99");
  CHECK_FALSE(db.end_boot(boot.id, "finished"));                                           // not a state
  CHECK_FALSE(db.begin_leg({0, "", 99, {}, "decode", "", "", "", 1, {}, "running", ""}));  // no such run
}

TEST_CASE("a bracket is found by the start of its id when only one has it") {
  Scratch s;
  for (const char* uid : {"aaaa1111", "aaaa2222", "bbbb1111"}) {
    BracketRow bracket = fixture::full_bracket();
    PlanRow plan = fixture::full_plan();
    bracket.uid = uid, plan.uid = uid;
    REQUIRE(s.db.create_bracket(plan, bracket));
  }
  CHECK(s.db.bracket("bbbb").value().bracket.uid == "bbbb1111");
  CHECK(s.db.bracket("aaaa2").value().bracket.uid == "aaaa2222");
  CHECK(s.db.bracket("aaaa").error().what == "2 brackets are named 'aaaa…'; give more of the id");
  CHECK(s.db.bracket("cccc").error().code == Errc::kUsage);
  CHECK(s.db.bracket("bbb").error().code == Errc::kUsage);
  CHECK(s.db.bracket("%___").error().code == Errc::kUsage);
}

TEST_CASE("fresh ids differ and are easy to type") {
  const std::string a = new_uid();
  CHECK(a.size() == 26);
  CHECK(a.find_first_not_of("0123456789abcdefghjkmnpqrstvwxyz") == std::string::npos);
  CHECK(a != new_uid());
  CHECK(short_uid(a) == a.substr(0, 8));
}

TEST_CASE("this machine has a fingerprint that stands still") {
  const HostRow host = this_host();
  CHECK(host.fingerprint.size() == 64);
  CHECK(host.fingerprint == this_host().fingerprint);
  CHECK(host.cpu_count.value_or(0) >= 1);
  CHECK(host.memory_bytes.value_or(0) > 0);
  CHECK_FALSE(host.cpu.empty());
}
