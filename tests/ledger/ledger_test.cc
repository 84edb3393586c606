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
  CHECK(done.err.starts_with("ledger: error: the file says "));

  CHECK(run_ledger({"check", "--db", db_path, dir.path() / "absent.md"}).code == 3);
  done = run_ledger({"render", "--db", dir.path() / "absent.db", "--out", page});
  CHECK(done.code == 3);
  CHECK(read_file(page).value() == edited);
  CHECK(run_ledger({}).code == 2);
}
