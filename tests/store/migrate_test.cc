#include "store/migrate.h"

#include <sqlite3.h>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "store/migrations.h"
#include "store/store.h"

using namespace bk;
using namespace bk::store;

namespace {

/// A file as the version with that schema left it, with one bracket, boot, leg and sample in it.
void write_old(const std::string& path, int version) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  const auto run = [&](const std::string& script) {
    char* message = nullptr;
    const int code = sqlite3_exec(db, script.c_str(), nullptr, nullptr, &message);
    INFO((message == nullptr ? "" : message));
    REQUIRE(code == SQLITE_OK);
  };
  for (std::size_t i = 0; i < kMigrationCount; ++i) {
    if (kMigrations[i].version <= version) run(kMigrations[i].sql);
  }
  run("PRAGMA application_id = 0x626b6c67; PRAGMA user_version = " + std::to_string(version));
  run("INSERT INTO bracket (id, uid, profile, profile_hash, axis, knob, base_value, cand_value, primary_metric, "
      "primary_cell, better, created_wall_ns, state, reason, reopen_reason, source) VALUES (1, 'oldb0000', 'sim', 'h', "
      "'X 0 -> 1', 'X', '0', '1', 'decode_tok_s', 'C=1', 'higher', 5, 'done', '', '', '')");
  run("INSERT INTO boot (id, uid, bracket_id, position, attempt, arm, profile, profile_hash, endpoint, model, engine, "
      "engine_version, image_digest, log_path, started_wall_ns, state, reason) VALUES (1, 'oldboot0', 1, 0, 0, 'base', "
      "'sim', 'h', '', '', '', '', '', '', 6, 'done', '')");
  run("INSERT INTO leg (id, uid, boot_id, name, endpoint, model, started_wall_ns, state, reason) VALUES (1, "
      "'oldleg00', "
      "1, 'decode', '', '', 7, 'done', '')");
  run("INSERT INTO sample (id, uid, leg_id, cell, concurrency, position, warmup, ok, started_ns, ended_ns, "
      "started_wall_ns, accept_reason) VALUES (1, 'olds0000', 1, 'C=1', 1, 0, 0, 1, 0, 1, 8, 'no_drafts')");
  run("INSERT INTO sample_metric (sample_id, name, value) VALUES (1, 'decode_tok_s', 61.5)");
  sqlite3_close(db);
}

/// Every table and index as it was declared, comments and blanks as they stand.
std::string schema_of(const std::string& path) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  REQUIRE(sqlite3_prepare_v2(db, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name", -1,
                             &statement, nullptr) == SQLITE_OK);
  std::string out;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    out += reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)) + std::string("\n");
  }
  sqlite3_finalize(statement);
  sqlite3_close(db);
  return out;
}

}  // namespace

TEST_CASE("a file of every earlier version comes forward with what it holds") {
  TempDir dir;
  const std::string fresh = dir.path() / "fresh.db";
  REQUIRE(Database::open(fresh));
  for (int version = 1; version < schema_version(); ++version) {
    const std::string path = dir.path() / ("v" + std::to_string(version) + ".db");
    write_old(path, version);
    INFO("from version " << version);
    const auto read_only = Database::open(path, OpenMode::kReadOnly);
    REQUIRE_FALSE(read_only);
    CHECK(read_only.error().code == Errc::kRefused);
    Database db = Database::open(path).value();
    CHECK(schema_of(path) == schema_of(fresh));
    CHECK(db.bracket("oldb0000").value().bracket.axis == "X 0 -> 1");
    CHECK(db.problems().value().empty());
    const auto figures = db.boot_figures(1).value();  // no version before 2 kept any
    REQUIRE(figures.size() == 2);
    CHECK(figures[1].name == "decode_tok_s");
    CHECK(figures[1].median == 61.5);
  }
}

TEST_CASE("migrations are numbered from 1 without a gap") {
  for (std::size_t i = 0; i < kMigrationCount; ++i) CHECK(kMigrations[i].version == static_cast<int>(i) + 1);
}
