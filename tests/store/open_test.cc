#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/file.h"
#include "store/migrate.h"
#include "store/store.h"

using namespace bk;
using namespace bk::store;

namespace {

void sql(const std::string& path, const char* script) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  CHECK(sqlite3_exec(db, script, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(db);
}

/// The error of opening, which must be one line and name the file.
Error refusal(const std::string& path, OpenMode mode = OpenMode::kReadWrite) {
  const auto db = Database::open(path, mode);
  REQUIRE_FALSE(db);
  CHECK(db.error().text().find('\n') == std::string::npos);
  CHECK(db.error().where == path);
  return db.error();
}

}  // namespace

TEST_CASE("what is not a results database is refused in one line and left as it was") {
  TempDir dir;
  const std::string path = dir.path() / "x.db";

  SECTION("text") {
    const std::string text =
        "this is no database, but it is longer than a header of one hundred bytes: " + std::string(200, 'x');
    REQUIRE(write_file_atomic(path, text));
    CHECK(refusal(path).code == Errc::kIo);
    CHECK(refusal(path).what == "not a database; name another file with --db");
    CHECK(read_file(path).value() == text);
  }
  SECTION("a database of another program") {
    sql(path, "CREATE TABLE song (title TEXT)");
    const std::string before = read_file(path).value();
    CHECK(refusal(path).code == Errc::kIo);
    CHECK(refusal(path).what == "a database of another program; name another file with --db");
    CHECK(read_file(path).value() == before);
  }
  SECTION("a newer schema") {
    REQUIRE(Database::open(path));
    sql(path, "PRAGMA user_version = 999");
    CHECK(refusal(path).code == Errc::kRefused);
    CHECK(refusal(path).what == "the database has schema 999, this program knows up to " +
                                    std::to_string(schema_version()) + ": use the newer version that wrote it");
  }
  SECTION("a directory") { CHECK(refusal(dir.path()).code == Errc::kIo); }
  SECTION("a directory that is not there") {
    const Error error = refusal(dir.path() / "no" / "x.db");
    CHECK(error.code == Errc::kIo);
    CHECK(error.what.find("No such file or directory") != std::string::npos);
  }
  SECTION("read-only, a file that is not there") {
    CHECK(refusal(path, OpenMode::kReadOnly).code == Errc::kIo);
    CHECK_FALSE(std::filesystem::exists(path));
  }
  SECTION("read-only, an empty file") {
    REQUIRE(write_file_atomic(path, ""));
    CHECK(refusal(path, OpenMode::kReadOnly).code == Errc::kRefused);
  }
  SECTION("damaged pages") {
    REQUIRE(Database::open(path));
    std::string bytes = read_file(path).value();
    REQUIRE(bytes.size() > 8192);
    std::fill(bytes.begin() + 100, bytes.begin() + 8192, 'Z');
    REQUIRE(write_file_atomic(path, bytes));
    CHECK(refusal(path).code == Errc::kIo);
    CHECK(refusal(path).what.find("damaged") != std::string::npos);
  }
}

TEST_CASE("opening twice changes nothing, and a reader sees what a writer committed") {
  TempDir dir;
  const std::string path = dir.path() / "results.db";
  Database writer = Database::open(path).value();
  Database reader = Database::open(path, OpenMode::kReadOnly).value();
  REQUIRE(writer.add_note({0, "", "ledger", "", "x", "first", 1}));
  CHECK(reader.notes().value().size() == 1);
  const auto refused = reader.add_note({0, "", "ledger", "", "x", "second", 2});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::kIo);
  CHECK(refused.error().what.find("may not be written") != std::string::npos);
  CHECK(Database::open(path).value().notes().value().size() == 1);
}

TEST_CASE("an archive is read by who may not write beside it") {
  TempDir dir;
  const std::filesystem::path folder = dir.path() / "50% of #1?";
  std::filesystem::create_directory(folder);
  const std::string path = folder / "results.db";
  REQUIRE(Database::open(path).value().add_note({0, "", "ledger", "", "x", "kept", 1}));
  REQUIRE_FALSE(std::filesystem::exists(path + "-wal"));
  chmod(path.c_str(), 0444);
  chmod(folder.c_str(), 0555);
  chmod(dir.path().c_str(), 0755);
  // Root may write anywhere: the reader is another user then.
  const pid_t reader = fork();
  REQUIRE(reader >= 0);
  if (reader == 0) {
    const bool is_nobody = geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
    auto db = Database::open(path, OpenMode::kReadOnly);
    _exit(is_nobody && db && db->notes().value().size() == 1 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(reader, &status, 0) == reader);
  CHECK(status == 0);
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
  chmod(folder.c_str(), 0755);
}

TEST_CASE("the schema file and a fresh database agree") {
  TempDir dir;
  const std::string path = dir.path() / "results.db";
  REQUIRE(Database::open(path));
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  const auto text_of = [&](const char* query) {
    sqlite3_stmt* statement = nullptr;
    REQUIRE(sqlite3_prepare_v2(db, query, -1, &statement, nullptr) == SQLITE_OK);
    std::string out;
    while (sqlite3_step(statement) == SQLITE_ROW) {
      out += reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)) + std::string(" ");
    }
    sqlite3_finalize(statement);
    return out;
  };
  CHECK(text_of("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name") ==
        "assessment boot boot_figure bracket calibration gate gate_question host leg note plan proof request run "
        "sample sample_metric verdict ");
  CHECK(text_of("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0 AND name "
                "NOT LIKE 'sqlite%'") == "");
  CHECK(text_of("PRAGMA journal_mode") == "wal ");
  CHECK(text_of("PRAGMA integrity_check") == "ok ");
  CHECK(text_of("PRAGMA foreign_key_check") == "");
  sqlite3_close(db);

  const std::string readme = read_file(BK_SOURCE_DIR "/schema/README.md").value();
  sql(path, "SELECT 1");
  const auto connection = Database::open(path);
  REQUIRE(connection);
  for (const char* table :
       {"assessment", "boot", "boot_figure", "bracket", "calibration", "gate", "gate_question", "host", "leg", "note",
        "plan", "proof", "request", "run", "sample", "sample_metric", "verdict"}) {
    INFO(table);
    CHECK(readme.find("## " + std::string(table) + "\n") != std::string::npos);
  }
}

TEST_CASE("what is read while a snapshot lives is of one moment, and no writer waits for it") {
  TempDir dir;
  const std::string path = dir.path() / "a.db";
  Database writer = Database::open(path).value();
  REQUIRE(writer.add_note({0, "", "ledger", "", "x", "before", 1}));
  Database reader = Database::open(path, OpenMode::kReadOnly).value();
  {
    const Snapshot snapshot = reader.snapshot().value();
    CHECK(reader.notes().value().size() == 1);
    REQUIRE(writer.add_note({0, "", "ledger", "", "x", "meanwhile", 2}));
    CHECK(reader.notes().value().size() == 1);
  }
  CHECK(reader.notes().value().size() == 2);
}
