#include <catch2/catch.hpp>

#include "base/file.h"
#include "ledger/check.h"
#include "ledger/render.h"
#include "ledger_fixture.h"
#include "run_ledger.h"

using namespace bk;
using ledger::fixture::Outcome;
using ledger::fixture::run_ledger;

namespace {

constexpr const char* kDecode = R"({"max_tokens":256,"temperature":0.95,"ignore_eos":false})";
constexpr const char* kGolden = BK_SOURCE_DIR "/tests/ledger/golden/measurements.md";

std::string rendered(const std::string& path) {
  store::Database db = store::Database::open(path).value();
  return ledger::render_markdown(db).value();
}

}  // namespace

TEST_CASE("the page of a database with every kind of bracket is the golden one") {
  TempDir dir;
  const std::string path = dir.path() / "results.db";
  {
    store::Database db = store::Database::open(path).value();
    ledger::fixture::fill(db);
  }
  const std::string page = rendered(path);
  const std::string golden = read_file(kGolden).value_or(std::string());
  if (page != golden) REQUIRE(write_file_atomic(std::string(kGolden) + ".got", page));
  const Status same = ledger::check_rendering(golden, page, kGolden);
  INFO((same ? std::string() : same.error().text()));
  CHECK(page == golden);
  CHECK(rendered(path) == page);
}

TEST_CASE("threads share the brackets without a trace on the page") {
  TempDir dir;
  store::Database db = store::Database::open(dir.path() / "results.db").value();
  ledger::fixture::fill(db);
  const std::string alone = ledger::render_markdown(db, 1).value();
  for (const std::size_t threads : {2, 3, 4, 9}) CHECK(ledger::render_markdown(db, threads).value() == alone);
}

TEST_CASE("boots outside brackets stand among the baselines, their gates below; a baseline waits for no signature") {
  TempDir dir;
  store::Database db = store::Database::open(dir.path() / "results.db").value();
  store::BootRow boot;
  boot.profile = "lone", boot.knobs_json = R"({"SPEC":"none"})";
  boot.arm = "base", boot.state = "done", boot.started_wall = ledger::fixture::kFirstDay;
  for (const double value : {60.0, 62.0}) {
    const store::RowId id = db.begin_boot(boot).value();
    const store::RowId leg = db.begin_leg({0, "", {}, id, "decode", kDecode, "", "", 1, {}, "done", ""}).value();
    store::SampleRow sample;
    sample.leg_id = leg, sample.cell = "C=1", sample.ok = true, sample.metrics["decode_tok_s"] = {value, ""};
    db.add_sample(sample).value();
    store::GateRow gate;
    gate.leg_id = leg, gate.name = "needle-256k", gate.verdict = value > 61 ? "pass" : "fail";
    gate.passed = value > 61 ? 4 : 2, gate.asked = 4, gate.finished_wall = boot.started_wall + from_s(value);
    db.add_gate(gate).value();
  }
  boot.profile = "failed", boot.state = "failed";
  db.begin_boot(boot).value();
  store::BracketRow baseline;
  baseline.uid = "eeee555500000000", baseline.profile = "sim", baseline.axis = "baseline", baseline.state = "done";
  db.create_bracket({0, "plan-e", "hash", "{}", 1}, baseline).value();
  const std::string page = ledger::render_markdown(db).value();
  CHECK(page.find("| lone    | SPEC=none | up to 256 tokens, t 0.95 | C=1  | decode_tok_s |     2 |  61.00 | 60.00 | "
                  "62.00 |") != std::string::npos);
  CHECK(page.find("Gates of boots outside any bracket:\n\n"
                  "| profile | knobs     | gate        | boots | passed |   newest | on         |\n") !=
        std::string::npos);
  CHECK(page.find("| lone    | SPEC=none | needle-256k |     2 |      1 | 4/4 pass | 2024-10-04 |") !=
        std::string::npos);
  CHECK(page.find("| failed") == std::string::npos);
  CHECK(page.find("## Open axes\n\nNone.\n") != std::string::npos);
  CHECK(page.find("- **assessment**: none: nothing is compared\n") != std::string::npos);
}

TEST_CASE("base boots that were asked differently stand in different rows, those asked the same in one") {
  TempDir dir;
  store::Database db = store::Database::open(dir.path() / "results.db").value();
  const auto plan = [](const char* knobs, const char* decode) {
    return fmt::format(R"({{"base":{},"decode":{}}})", knobs, decode);
  };
  struct Case {
    std::string plan;
    double value;
  };
  const char* spec = R"({"SPEC":"ngram","GATEFUSE":"0"})";
  const char* whole = R"({"max_tokens":1024,"temperature":0.0,"ignore_eos":true})";
  const Case cases[] = {{plan(spec, whole), 1190}, {plan(spec, whole), 1194}, {plan(spec, kDecode), 470},
                        {plan("{}", whole), 181},  {plan("{}", whole), 187},  {R"({"boots":3})", 60}};
  int n = 0;
  for (const Case& c : cases) {
    const std::string uid = fmt::format("brkt{}00000000000", n++);
    ledger::fixture::add_boot(db, ledger::fixture::add_bracket(db, uid, n, "GATEFUSE 0 -> 1", "done", c.plan), 0,
                              {"base", {c.value}});
  }
  const std::string page = ledger::render_markdown(db).value();
  const std::string want[] = {
      "| GATEFUSE=0, SPEC=ngram | 1024 tokens, t 0         | C=1  | decode_tok_s  |     2 |   1192 |  1190 |  1194 |",
      "| GATEFUSE=0, SPEC=ngram | up to 256 tokens, t 0.95 | C=1  | decode_tok_s  |     1 |  470.0 | 470.0 | 470.0 |",
      "| defaults               | 1024 tokens, t 0         | C=1  | decode_tok_s  |     2 |  184.0 | 181.0 | 187.0 |",
      "| -                      | -                        | C=1  | decode_tok_s  |     1 |  60.00 | 60.00 | 60.00 |"};
  INFO(page.substr(0, page.find("## Adopted")));
  for (const std::string& line : want) CHECK(page.find(line) != std::string::npos);
}

TEST_CASE("base boots that comparisons share are counted once") {
  TempDir dir;
  store::Database db = store::Database::open(dir.path() / "results.db").value();
  store::BracketRow whole;
  whole.uid = "ffff000000000000", whole.profile = "sim", whole.axis = "sweep X 0,1,2", whole.state = "done";
  const store::RowId family = db.create_bracket({0, "plan-f", "hash", "{}", 1}, whole).value();
  for (const int position : {0, 1}) ledger::fixture::add_boot(db, family, position, {"base", {61.0 + position}});
  for (const char* value : {"1", "2"}) {
    store::BracketRow one = whole;
    one.uid = std::string("ffff") + value + "00000000000", one.axis = std::string("X 0 -> ") + value;
    one.family_id = family;
    ledger::fixture::add_boot(db, db.create_bracket({0, "plan-" + one.uid, "hash", "{}", 1}, one).value(), 2,
                              {"cand", {64}});
  }
  const std::string page = ledger::render_markdown(db).value();
  INFO(page.substr(0, page.find("## Adopted")));
  CHECK(page.find("| sim     | -     | -     | C=1  | decode_tok_s  |     2 |  61.50 |") != std::string::npos);
}

TEST_CASE("an empty database has a page, too") {
  TempDir dir;
  const std::string page = rendered(dir.path() / "results.db");
  CHECK(page.find("No base boot has been measured yet.") != std::string::npos);
  CHECK(page.ends_with("None.\n"));
}

TEST_CASE("check names the first line that differs") {
  struct Case {
    const char* file;
    const char* rendering;
    const char* want;
  };
  const Case cases[] = {
      {"a\nb\n", "a\nc\n", "the file says 'b', the database 'c'; run `ledger render` (M.md:2)"},
      {"a\n", "a\nc\n", "the file ends before 'c'; run `ledger render` (M.md:2)"},
      {"a\nb\n", "a\n", "the database has no 'b'; run `ledger render` (M.md:2)"},
      {"", "a\n", "the file ends before 'a'; run `ledger render` (M.md:1)"},
      {"a\r\n", "a\n", "the line ends differ; run `ledger render` (M.md)"},
      {"a", "a\n", "the line ends differ; run `ledger render` (M.md)"},
  };
  for (const Case& c : cases) {
    const Status status = ledger::check_rendering(c.file, c.rendering, "M.md");
    REQUIRE_FALSE(status);
    CHECK(status.error().code == Errc::kMismatch);
    CHECK(status.error().text() == c.want);
  }
  CHECK(ledger::check_rendering("a\n", "a\n", "M.md"));
}

TEST_CASE("the program renders, finds its page unchanged, and notices an edit") {
  TempDir dir;
  const std::string db_path = dir.path() / "results.db";
  const std::string page = dir.path() / "M.md";
  {
    store::Database db = store::Database::open(db_path).value();
    ledger::fixture::fill(db);
  }
  Outcome done = run_ledger({"render", "--db", db_path, "--out", page});
  CHECK(done.err == "ledger: wrote " + page + "\n");
  CHECK(done.code == 0);
  CHECK(done.out.empty());
  CHECK(run_ledger({"check", "--db", db_path, page}).code == 0);
  CHECK(run_ledger({"render", "--db", db_path, "--out", "-"}).out == read_file(page).value());

  std::string edited = read_file(page).value();
  edited.replace(edited.find("unsigned"), 8, "adopted!");
  REQUIRE(write_file_atomic(page, edited));
  done = run_ledger({"check", "--db", db_path, page});
  CHECK(done.code == 1);
  CHECK(done.err.find("ledger: error: the file says ") != std::string::npos);

  CHECK(run_ledger({"check", "--db", db_path, dir.path() / "absent.md"}).code == 3);
  done = run_ledger({"render", "--db", dir.path() / "absent.db", "--out", page});
  CHECK(done.code == 3);
  CHECK(read_file(page).value() == edited);
  CHECK(run_ledger({}).code == 2);
}
