#include "ledger/text_files.h"

#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "ledger/check.h"
#include "ledger/render.h"
#include "ledger_fixture.h"
#include "run_ledger.h"

using namespace bk;
using ledger::fixture::Outcome;
using ledger::fixture::run_ledger;
namespace fs = std::filesystem;

namespace {

std::string filled(const fs::path& path) {
  store::Database db = store::Database::open(path.string()).value();
  ledger::fixture::fill(db);
  return path.string();
}

std::map<std::string, std::string> files_in(const fs::path& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    files[entry.path().filename().string()] = read_file(entry.path()).value();
  }
  return files;
}

}  // namespace

TEST_CASE("signed brackets are text, the same after a way through another database") {
  TempDir dir;
  const std::string db = filled(dir.path() / "a.db"), out = dir.path() / "measurements";
  Outcome done = run_ledger({"export", "--signed", "--db", db, "--out", out});
  CHECK(done.out == out + ": 2 signed brackets, 3 files written\n");
  const auto files = files_in(out);
  REQUIRE(files.size() == 3);
  CHECK(files.count("2024-10-04-sim-dsv4-GATEFUSE-aaaa1111.jsonl") == 1);
  CHECK(files.count("2024-10-05-sim-dsv4-GATEFUSE-bbbb2222.jsonl") == 1);
  CHECK(files.count("general.jsonl") == 1);
  CHECK(run_ledger({"export", "--signed", "--db", db, "--out", out}).out ==
        out + ": 2 signed brackets, 0 files written\n");

  const std::string copy = dir.path() / "b.db", again = dir.path() / "again";
  done = run_ledger({"import", out, "--db", copy});
  CHECK(done.code == 0);
  CHECK(done.out.find("(2 brackets)") != std::string::npos);
  REQUIRE(run_ledger({"export", "--signed", "--db", copy, "--out", again}).code == 0);
  CHECK(files_in(again) == files);
  const std::string page = run_ledger({"render", "--db", copy, "--out", "-"}).out;
  const std::string whole = run_ledger({"render", "--db", db, "--out", "-"}).out;
  const auto part = [](const std::string& text) {  // what both hold: the signed brackets
    const std::size_t begin = text.find("## Signed brackets"), end = text.find("## Unsigned brackets");
    return text.substr(begin, end - begin);
  };
  CHECK(part(page) == part(whole));
}

TEST_CASE("the repository's own page is the rendering of its measurements, byte for byte") {
  TempDir dir;
  const std::string path = dir.path() / "results.db";
  const std::string measurements = BK_SOURCE_DIR "/measurements", page = BK_SOURCE_DIR "/MEASUREMENTS.md";
  store::Database db = store::Database::open(path).value();
  REQUIRE(ledger::import_path(db, measurements).value().brackets >= 2);
  const Status same =
      ledger::check_rendering(read_file(page).value(), ledger::render_markdown(db).value(), "MEASUREMENTS.md");
  INFO((same ? std::string() : same.error().text()));
  CHECK(same);
  CHECK(db.problems().value().empty());
  const fs::path again = dir.path() / "again";
  REQUIRE(ledger::export_signed(db, again.string()));
  CHECK(files_in(again) == files_in(measurements));
}

TEST_CASE("a whole export rebuilds the database, and CSV has a row for each value") {
  TempDir dir;
  const std::string db = filled(dir.path() / "a.db"), text = dir.path() / "all.jsonl", copy = dir.path() / "b.db";
  REQUIRE(run_ledger({"export", "--db", db, "--out", text}).code == 0);
  REQUIRE(run_ledger({"import", text, "--db", copy}).code == 0);
  CHECK(run_ledger({"export", "--db", copy}).out == read_file(text).value());
  CHECK(run_ledger({"render", "--db", copy, "--out", "-"}).out == run_ledger({"render", "--db", db, "--out", "-"}).out);

  const std::string csv = run_ledger({"export", "--format", "csv", "--db", db}).out;
  const auto lines = split_lines(csv);
  // 9 samples of C=1 with two metrics each and 5 of 2K with one; warm-ups are left out.
  CHECK(lines.size() == 1 + 9 * 2 + 5);
  CHECK(csv.find("aaaa111100000000,sim|dsv4,GATEFUSE 0 -> 1,") != std::string::npos);
  CHECK(csv.find(",decode_tok_s,62.11,\n") != std::string::npos);
  CHECK(csv.find(",decode_tok_s,,failed_request\n") != std::string::npos);
}

TEST_CASE("merging takes what is missing and nothing twice") {
  TempDir dir;
  const std::string from = filled(dir.path() / "a.db"), into = dir.path() / "b.db";
  REQUIRE(store::Database::open(into));
  Outcome done = run_ledger({"merge", from, "--db", into});
  CHECK(done.code == 0);
  CHECK(done.out.find("(4 brackets)") != std::string::npos);
  CHECK(run_ledger({"merge", from, "--db", into}).out.find(": 0 rows added (0 brackets), 0 updated") !=
        std::string::npos);
  CHECK(run_ledger({"merge", into, "--db", into}).out.find(": 0 rows added") != std::string::npos);
  CHECK(run_ledger({"render", "--db", into, "--out", "-"}).out ==
        run_ledger({"render", "--db", from, "--out", "-"}).out);
  CHECK(run_ledger({"merge", dir.path() / "absent.db", "--db", into}).code == 3);
  CHECK_FALSE(fs::exists(dir.path() / "absent.db"));
}

TEST_CASE("notes stay through rendering, and say what they are about") {
  TempDir dir;
  const std::string db = filled(dir.path() / "a.db");
  CHECK(run_ledger({"note", "two fans", "--by", "maintainers", "--db", db}).out == "noted about the ledger\n");
  CHECK(run_ledger({"note", "cold room", "--by", "maintainers", "--profile", "sim", "--db", db}).code == 0);
  CHECK(run_ledger({"note", "keep off", "--by", "maintainers", "--axis", "REFINE", "--db", db}).code == 0);
  CHECK(run_ledger({"note", "look here", "--by", "maintainers", "--bracket", "aaaa", "--db", db}).out ==
        "noted about bracket aaaa111100000000\n");
  const std::string page = run_ledger({"render", "--db", db, "--out", "-"}).out;
  for (const char* text : {"- two fans (maintainers, ", "- profile sim: cold room (", "- axis REFINE: keep off (",
                           "\n> look here (maintainers, "}) {
    CAPTURE(text);
    CHECK(page.find(text) != std::string::npos);
  }
  CHECK(run_ledger({"note", " ", "--by", "x", "--db", db}).code == 2);
  CHECK(run_ledger({"note", "x", "--by", " ", "--db", db}).code == 2);
  CHECK(run_ledger({"note", "\xff", "--by", "x", "--db", db}).code == 2);
  CHECK(run_ledger({"note", "x", "--by", "\xff", "--db", db}).code == 2);
  CHECK(run_ledger({"note", "x", "--by", "y", "--axis", "A", "--profile", "p", "--db", db}).code == 2);
  CHECK(run_ledger({"note", "x", "--by", "y", "--axis", "", "--db", db}).code == 2);
  CHECK(run_ledger({"note", "x", "--by", "y", "--bracket", "zzzz", "--db", db}).code == 2);
  CHECK(run_ledger({"note", "x", "--db", db}).code == 2);
}

TEST_CASE("check finds what is wrong inside, before it looks at the page") {
  TempDir dir;
  const std::string db = filled(dir.path() / "a.db"), page = dir.path() / "M.md";
  REQUIRE(run_ledger({"render", "--db", db, "--out", page}).code == 0);
  CHECK(run_ledger({"check", page, "--db", db}).out == page + " is the rendering of " + db + ", which is sound\n");
  sqlite3* raw = nullptr;
  REQUIRE(sqlite3_open(db.c_str(), &raw) == SQLITE_OK);
  REQUIRE(sqlite3_exec(raw, "PRAGMA foreign_keys = OFF; DELETE FROM plan WHERE id = 1", nullptr, nullptr, nullptr) ==
          SQLITE_OK);
  sqlite3_close(raw);
  const Outcome done = run_ledger({"check", page, "--db", db});
  CHECK(done.code == 1);
  CHECK(done.err ==
        "ledger: row 1 of bracket names a row of plan that is not there\n"
        "ledger: error: 1 problems in the database; restore a backup, or merge it into a fresh one (" +
            db + ")\n");
}

TEST_CASE("a backup is made once") {
  TempDir dir;
  const std::string db = filled(dir.path() / "a.db"), copy = dir.path() / "copy.db";
  CHECK(run_ledger({"backup", copy, "--db", db}).out == copy + " is a copy of " + db + "\n");
  CHECK(run_ledger({"backup", copy, "--db", db}).code == 3);
  CHECK(run_ledger({"render", "--db", copy, "--out", "-"}).out == run_ledger({"render", "--db", db, "--out", "-"}).out);
}

TEST_CASE("the newest calibration stands on the page") {
  TempDir dir;
  const std::string db = filled(dir.path() / "a.db"), file = dir.path() / "c.json";
  REQUIRE(write_file_atomic(file, R"({"schema_version":1,"tool":"bracket calibrate","tool_version":"0.1.0","seed":"1",
    "brackets_per_cell":20000,"false_alarm_max":5.214,"coverage_min":94.8,"rows":[
    {"cell":"aba/sd1|x","judge":"rule","brackets":20000,"significant_pct":5.1,"coverage_pct":null}]})"));
  CHECK(run_ledger({"import", file, "--db", db}).out.find(": 1 rows added") != std::string::npos);
  CHECK(run_ledger({"import", file, "--db", db}).out.find(": 0 rows added") != std::string::npos);
  const std::string page = run_ledger({"render", "--db", db, "--out", "-"}).out;
  for (const char* text : {"20000 in each cell, seed 1, measured by version 0.1.0.", "| false_alarm_max |   5.214 |",
                           "| aba/sd1\\|x | rule  |    20000 |           5.100 |            - |"}) {
    CAPTURE(text);
    CHECK(page.find(text) != std::string::npos);
  }
  REQUIRE(write_file_atomic(file, R"({"rows":[]})"));
  CHECK(run_ledger({"import", file, "--db", db}).code == 2);
  REQUIRE(write_file_atomic(file, "{"));
  CHECK(run_ledger({"import", file, "--db", db}).code != 0);
}

TEST_CASE("text that is no export is refused with its line, and nothing of it stays") {
  const std::string head = R"({"format":"bracketkit-ledger","format_version":1})";
  const std::string note =
      R"({"table":"note","uid":"n1","subject_kind":"ledger","subject":"","author":"x","text":"t","created_wall_ns":1})";
  struct Case {
    std::string text, want;
    int code;
  };
  const Case cases[] = {
      {"", ":1)", 2},
      {"{}", "not a ledger's JSON lines", 2},
      {R"({"format":"bracketkit-ledger","format_version":2})", "a newer form", 2},
      {head + "\n" + note + "\n<<<<<<< HEAD\n", "a merge conflict of git stands here", 3},
      {head + "\n" + note + "\n{\"table\":", ":3)", 3},
      {head + "\n" + note + "\n[1]", "no 'table'", 3},
      {head + "\n" + note + "\n{\"table\":\"tape\"}", "no table 'tape'", 2},
      {head + "\n" + note + "\n{\"table\":\"note\",\"uid\":{\"a\":1}}", "'uid' is neither a number nor a text", 3},
      {head + "\n" + note + "\n{\"table\":\"note\",\"uid\":[1]}", "'uid' has to be a list of objects", 3},
      {head + "\n" + note + "\n{\"table\":\"sample\",\"uid\":\"s\",\"request\":[{\"events\":[[1]]}]}",
       "'events' has to be a list of [nanoseconds, tokens]", 3},
      {head + "\n" + note + "\n{\"table\":\"leg\",\"uid\":\"l\",\"boot\":\"nobody\"}", "names the boot nobody", 2},
  };
  TempDir dir;
  const std::string db = dir.path() / "a.db", file = dir.path() / "x.jsonl";
  for (const Case& c : cases) {
    CAPTURE(c.text);
    REQUIRE(write_file_atomic(file, c.text));
    const Outcome done = run_ledger({"import", file, "--db", db});
    CHECK(done.code == c.code);
    CHECK(done.err.find(c.want) != std::string::npos);
    CHECK(split_lines(done.err).size() == 1);
    CHECK(store::Database::open(db).value().notes().value().empty());
  }
  REQUIRE(write_file_atomic(file, head + "\n" + note + "\n"));
  CHECK(run_ledger({"import", file, "--db", db}).code == 0);
  CHECK(run_ledger({"import", dir.path() / "absent.jsonl", "--db", db}).code == 3);
  fs::create_directory(dir.path() / "empty");
  CHECK(run_ledger({"import", dir.path() / "empty", "--db", db}).code == 2);
}
