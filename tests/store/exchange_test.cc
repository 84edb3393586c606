#include "store/exchange.h"

#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/file.h"
#include "rows_fixture.h"

using namespace bk;
using namespace bk::store;

namespace {

/// One bracket with a row in every table that can hang on it.
RowId fill_whole(Database& db) {
  const RowId host = db.add_host(fixture::full_host()).value();
  BracketRow bracket = fixture::full_bracket();
  bracket.imported_json = R"({"delta_pct":3.5})";
  const RowId id = db.create_bracket(fixture::full_plan(), bracket).value();
  RunRow run;
  run.uid = "run-1", run.program = "bracket", run.host_id = host, run.bracket_id = id, run.started_wall = 1;
  run.ended_wall = 2, run.exit_code = 0, run.state = "done";
  const RowId run_id = db.begin_run(run).value();
  BootRow boot = fixture::full_boot();
  boot.bracket_id = id, boot.host_id = host;
  const RowId boot_id = db.begin_boot(boot).value();
  ProofRow proof;
  proof.uid = "proof-1", proof.boot_id = boot_id, proof.knob = "GATEFUSE", proof.kind = "log", proof.state = "held";
  REQUIRE(db.add_proof(proof));
  const RowId leg = db.begin_leg(fixture::full_leg(run_id, boot_id)).value();
  REQUIRE(db.add_sample(fixture::full_sample(leg)));
  SampleRow second = fixture::empty_sample(leg);
  second.started_wall = 301;
  REQUIRE(db.add_sample(second));
  REQUIRE(db.add_gate(fixture::full_gate(leg)));
  const RowId assessment = db.add_assessment(fixture::full_assessment(id)).value();
  REQUIRE(db.add_verdict(fixture::full_verdict(id, assessment)));
  REQUIRE(db.add_note({0, "note-1", "bracket", bracket.uid, "A. Nyman", "power cut", 4}));
  REQUIRE(db.add_note({0, "note-2", "ledger", "", "A. Nyman", "fans replaced", 5}));
  REQUIRE(db.add_calibration({0, "cal-1", R"({"false_alarm_max":5.2})", 6, "0.1.0"}));
  return id;
}

std::vector<TravelRow> exported(Database& db, const ExportScope& scope = {}) {
  std::vector<TravelRow> rows;
  REQUIRE(export_rows(db, scope, [&](const TravelRow& row) {
    rows.push_back(row);
    return Status();
  }));
  return rows;
}

std::vector<std::string> tables(const std::vector<TravelRow>& rows) {
  std::vector<std::string> names;
  for (const TravelRow& row : rows) {
    names.push_back(row.table);
    for (const TravelRow& part : row.parts) names.push_back(row.table + "." + part.table);
  }
  return names;
}

bool same(const std::vector<TravelRow>& a, const std::vector<TravelRow>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].table != b[i].table || a[i].columns != b[i].columns || !same(a[i].parts, b[i].parts)) return false;
  }
  return true;
}

Result<ImportTally> import_all(Database& db, const std::vector<TravelRow>& rows) {
  BK_ASSIGN(Importer importer, Importer::begin(db));
  for (const TravelRow& row : rows) BK_TRY(importer.add(row));
  return importer.finish();
}

TravelRow& row_of(std::vector<TravelRow>& rows, const std::string& table) {
  for (TravelRow& row : rows) {
    if (row.table == table) return row;
  }
  FAIL("no row of " + table);
  return rows.front();
}

void set(TravelRow& row, const std::string& column, Cell value) {
  for (auto& [name, cell] : row.columns) {
    if (name == column) cell = std::move(value);
  }
}

}  // namespace

TEST_CASE("a whole database travels and comes back the same") {
  TempDir dir;
  Database from = Database::open(dir.path() / "a.db").value();
  fill_whole(from);
  const auto rows = exported(from);
  CHECK(tables(rows) == std::vector<std::string>{"host",
                                                 "plan",
                                                 "bracket",
                                                 "run",
                                                 "boot",
                                                 "proof",
                                                 "leg",
                                                 "sample",
                                                 "sample.sample_metric",
                                                 "sample.sample_metric",
                                                 "sample.request",
                                                 "sample.request",
                                                 "sample",
                                                 "sample.sample_metric",
                                                 "gate",
                                                 "gate.gate_question",
                                                 "gate.gate_question",
                                                 "gate.request",
                                                 "assessment",
                                                 "verdict",
                                                 "note",
                                                 "note",
                                                 "calibration"});

  Database into = Database::open(dir.path() / "b.db").value();
  REQUIRE(into.add_note({0, "other", "ledger", "", "B. Lind", "ids must not line up", 1}));
  const ImportTally first = merge(into, from).value();
  CHECK(first.added == 15);
  CHECK(first.known == 0);
  CHECK(first.brackets == 1);
  const ImportTally again = merge(into, from).value();
  CHECK(again.added == 0);
  CHECK(again.known == 15);
  auto back = exported(into);
  std::erase_if(back, [](const TravelRow& row) { return row.columns.front().second == Cell("other"); });
  CHECK(same(back, rows));
  CHECK(into.problems().value().empty());
  const auto figures = into.boot_figures(into.list_brackets().value().front().bracket.id).value();
  REQUIRE(figures.size() == 3);
  CHECK(figures[1].name == "decode_tok_s");
  CHECK(figures[1].samples == 1);
  CHECK(figures[1].failed == 1);
  CHECK(figures[1].median == 57.25);
}

TEST_CASE("one bracket without its requests, and the requests later") {
  TempDir dir;
  Database from = Database::open(dir.path() / "a.db").value();
  const RowId bracket = fill_whole(from);
  const auto rows = exported(from, {ExportScope::Kind::kBracket, bracket, false});
  CHECK(tables(rows) == std::vector<std::string>{"host", "plan", "bracket", "run", "boot", "proof", "leg", "sample",
                                                 "sample.sample_metric", "sample.sample_metric", "sample",
                                                 "sample.sample_metric", "gate", "gate.gate_question",
                                                 "gate.gate_question", "assessment", "verdict", "note"});
  CHECK(tables(exported(from, {ExportScope::Kind::kGeneral, 0, false})) ==
        std::vector<std::string>{"note", "calibration"});

  Database into = Database::open(dir.path() / "b.db").value();
  REQUIRE(import_all(into, rows));
  CHECK(same(exported(into, {ExportScope::Kind::kBracket, 1, false}), rows));
  const RowId sample = into.samples(1).value().front().id;
  CHECK(into.requests(sample).value().empty());
  REQUIRE(merge(into, from));
  REQUIRE(into.requests(sample).value().size() == 2);
  CHECK(into.requests(sample).value().front().events == fixture::full_request().events);
  REQUIRE(merge(into, from));
  CHECK(into.requests(sample).value().size() == 2);
}

TEST_CASE("a row that went on replaces the older one, in either order") {
  TempDir dir;
  Database from = Database::open(dir.path() / "a.db").value();
  fill_whole(from);
  const auto ended = exported(from);
  auto running = ended;
  set(row_of(running, "bracket"), "state", std::string("running"));
  set(row_of(running, "bracket"), "ended_wall_ns", Cell());
  Database into = Database::open(dir.path() / "b.db").value();
  REQUIRE(import_all(into, running));
  CHECK(into.list_brackets().value().front().bracket.state == "running");
  CHECK(import_all(into, ended).value().updated == 1);
  CHECK(import_all(into, running).value().updated == 0);
  CHECK(into.list_brackets().value().front().bracket.state == "done");
}

TEST_CASE("a machine is one host under whatever name a database gave it") {
  TempDir dir;
  Database from = Database::open(dir.path() / "a.db").value();
  fill_whole(from);
  Database into = Database::open(dir.path() / "b.db").value();
  HostRow host = fixture::full_host();
  host.uid = "another-name";
  const RowId here = into.add_host(host).value();
  REQUIRE(merge(into, from));
  CHECK(into.boots(1).value().front().host_id == here);
}

TEST_CASE("what cannot be taken is refused whole, in one line") {
  TempDir dir;
  Database from = Database::open(dir.path() / "a.db").value();
  fill_whole(from);
  auto rows = exported(from);
  Database into = Database::open(dir.path() / "b.db").value();
  Errc code = Errc::kUsage;
  std::string what;
  SECTION("a table of the future") {
    rows.push_back({"tape", {}, {}});
    what = "no table 'tape' in this version; use the one that wrote it";
  }
  SECTION("a column of the future") {
    rows.back().columns.emplace_back("colour", std::string("red"));
    what = "a calibration has no 'colour' in this version; use the one that wrote it";
  }
  SECTION("a column that is SQL") {
    rows.back().columns.emplace_back("uid) VALUES ('x'); DROP TABLE note; --", std::string("red"));
    what = "a calibration has no 'uid) VALUES ('x'); DROP TABLE note; --' in this version; use the one that wrote it";
  }
  SECTION("a part of the future") {
    row_of(rows, "sample").parts.push_back({"tape", {}, {}});
    what = "a sample has no part 'tape' in this version";
  }
  SECTION("a row without its name") {
    set(row_of(rows, "leg"), "uid", std::string());
    what = "a leg without its uid";
  }
  SECTION("a row that names another that is not there") {
    set(row_of(rows, "leg"), "boot", std::string("nobody"));
    what = "a leg names the boot nobody, which is neither here nor before it";
  }
  SECTION("a value that the schema forbids") {
    set(row_of(rows, "verdict"), "word", std::string("splendid"));
    code = Errc::kInternal;
    what = "database: CHECK constraint failed";
  }
  SECTION("a row that was edited") {
    REQUIRE(import_all(into, rows));
    set(row_of(rows, "sample"), "accept_raw", 0.5);
    rows.insert(rows.begin(), {"note",
                               {{"uid", std::string("new")},
                                {"subject_kind", std::string("ledger")},
                                {"subject", std::string()},
                                {"author", std::string("x")},
                                {"text", std::string("x")},
                                {"created_wall_ns", std::int64_t{1}}},
                               {}});
    code = Errc::kMismatch;
    what = "the sample sample-1 stands here with other content; one of the two was edited";
  }
  const auto before = into.notes().value().size();
  const auto refused = import_all(into, rows);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == code);
  CHECK(refused.error().what.substr(0, what.size()) == what);
  CHECK(into.notes().value().size() == before);
}

TEST_CASE("figures follow the samples, and a change behind their back is a problem") {
  TempDir dir;
  const std::string path = dir.path() / "a.db";
  Database db = Database::open(path).value();
  const RowId bracket = fill_whole(db);
  const RowId boot = db.boots(bracket).value().front().id;
  const auto median = [&] { return db.boot_figures(bracket).value().at(1).median; };
  CHECK(median() == 57.25);
  REQUIRE(db.end_boot(boot, "done"));
  CHECK(median() == 57.25);
  SampleRow sample = fixture::full_sample(db.legs(boot).value().front().id);
  sample.uid = "", sample.metrics["decode_tok_s"] = {60.25, ""}, sample.requests.clear();
  REQUIRE(db.add_sample(sample));
  CHECK(median() == 58.75);
  sample.uid = "", sample.warmup = true, sample.metrics["decode_tok_s"] = {1000, ""};
  REQUIRE(db.add_sample(sample));
  REQUIRE(db.end_boot(boot, "done"));
  CHECK(median() == 58.75);
  CHECK(db.problems().value().empty());

  sqlite3* raw = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &raw) == SQLITE_OK);
  REQUIRE(sqlite3_exec(raw, "UPDATE sample_metric SET value = 70 WHERE value = 60.25", nullptr, nullptr, nullptr) ==
          SQLITE_OK);
  CHECK(db.problems().value() == std::vector<std::string>{"the figures of boot boot-1 are not what its samples say"});
  REQUIRE(sqlite3_exec(raw, "PRAGMA foreign_keys = OFF; DELETE FROM plan", nullptr, nullptr, nullptr) == SQLITE_OK);
  CHECK(db.problems().value() == std::vector<std::string>{"row 1 of bracket names a row of plan that is not there"});
  sqlite3_close(raw);
}

TEST_CASE("a backup is the database as it stood, and replaces nothing") {
  TempDir dir;
  Database db = Database::open(dir.path() / "a.db").value();
  fill_whole(db);
  const std::string copy = dir.path() / "copy.db";
  REQUIRE(db.backup(copy));
  REQUIRE(db.add_note({0, "later", "ledger", "", "x", "after the backup", 9}));
  Database restored = Database::open(copy).value();
  CHECK(restored.notes().value().size() == 2);
  CHECK(restored.problems().value().empty());
  const Status twice = db.backup(copy);
  REQUIRE_FALSE(twice);
  CHECK(twice.error().code == Errc::kIo);
  CHECK_FALSE(std::filesystem::exists(copy + ".part"));
  CHECK(db.backup(dir.path() / "no" / "copy.db").error().code == Errc::kIo);
}

TEST_CASE("an axis that was rejected and adopted later is open again") {
  TempDir dir;
  Database db = Database::open(dir.path() / "a.db").value();
  std::vector<RowId> ids;
  for (const char* uid : {"first000", "second00"}) {
    BracketRow row = fixture::full_bracket();
    PlanRow plan = fixture::full_plan();
    row.uid = plan.uid = uid;
    ids.push_back(db.create_bracket(plan, row).value());
  }
  REQUIRE(db.add_verdict({0, "", ids[0], {}, "rejected", "", "A. Nyman", "slower", "", 10}));
  REQUIRE(db.add_verdict({0, "", ids[1], {}, "neutral", "", "A. Nyman", "no effect", "", 20}));
  CHECK(db.rejected("sim", "GATEFUSE", "1").value().size() == 1);
  REQUIRE(db.add_verdict({0, "", ids[1], {}, "adopted", "", "A. Nyman", "new kernel", "", 30}));
  CHECK(db.rejected("sim", "GATEFUSE", "1").value().empty());
}
