#include "store/postgres.h"

#include <catch2/catch.hpp>
#include <thread>

#include "../ledger/ledger_fixture.h"
#include "ledger/render.h"
#include "server.h"
#include "store/exchange.h"
#include "store/migrate.h"

using namespace bk;
using namespace bk::store;
using bk::postgres_test::Server;

namespace {

bool missing() {
  if (postgres_test::programs()) return false;
  WARN("skipped: PostgreSQL is not installed (Debian package postgresql)");
  return true;
}

std::vector<TravelRow> exported(Database& db) {
  std::vector<TravelRow> rows;
  REQUIRE(export_rows(db, {}, [&](const TravelRow& row) {
    rows.push_back(row);
    return Status();
  }));
  return rows;
}

bool same(const std::vector<TravelRow>& a, const std::vector<TravelRow>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].table != b[i].table || a[i].columns != b[i].columns || !same(a[i].parts, b[i].parts)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a shared server holds the same rows and gives the same page as a file") {
  if (missing()) return;
  const Server server;
  TempDir dir;
  Database shared = Database::open(server.url()).value();
  ledger::fixture::fill(shared);
  const RowId bracket = shared.list_brackets().value().front().bracket.id;
  const auto boots = shared.boots(bracket).value();
  for (const BootRow& boot : boots) REQUIRE(shared.end_boot(boot.id, boot.state, boot.reason));
  RequestRow request;
  request.outcome = "ok", request.events = {{10, 1}, {20, -1}, {30, 4}}, request.content = "안녕 \\ ' \" \n";
  for (Value* v : {&request.decode_tok_s, &request.decode_tok_s_n_minus_1, &request.tpot_ms, &request.prefill_tok_s,
                   &request.e2e_tok_s}) {
    *v = {1.0 / 3, ""};
  }
  SampleRow sample;
  sample.leg_id = shared.legs(shared.boots(bracket).value().front().id).value().front().id;
  sample.cell = "C=1", sample.ok = true, sample.metrics["decode_tok_s"] = {62.5, ""}, sample.requests = {request};
  const RowId id = shared.add_sample(sample).value();
  CHECK(shared.requests(id).value().front().events == request.events);
  CHECK(shared.requests(id).value().front().content == request.content);
  CHECK(shared.requests(id).value().front().tpot_ms.value == 1.0 / 3);

  Database file = Database::open(dir.path() / "a.db").value();
  const ImportTally tally = merge(file, shared).value();
  CHECK(tally.brackets == 4);
  CHECK(merge(shared, file).value().added == 0);
  CHECK(same(exported(file), exported(shared)));
  CHECK(ledger::render_markdown(file).value() == ledger::render_markdown(shared).value());
  CHECK(shared.problems().value().empty());
  CHECK(shared.rejected("sim|dsv4", "GATEFUSE", "1").value().size() == 1);
  const store::HistoryScope scope{"sim|dsv4", "decode_tok_s", "C=1", {}, {}, 9};
  CHECK(shared.base_history(scope).value().size() == file.base_history(scope).value().size());
  CHECK(shared.bracket("aaaa").value().gates_passed == 2);
  CHECK(shared.backup(dir.path() / "copy.db").error().code == Errc::kUnavailable);

  const auto wrong = shared.add_verdict({0, "", bracket, {}, "splendid", "", "x", "y", "", 1});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().text().find('\n') == std::string::npos);
  CHECK(shared.add_note({0, "", "ledger", "", "x", "still usable", 1}));

  Database reader = Database::open(server.url(), OpenMode::kReadOnly).value();
  const std::size_t before = reader.notes().value().size();
  {
    const Snapshot snapshot = reader.snapshot().value();
    CHECK(reader.notes().value().size() == before);
    REQUIRE(shared.add_note({0, "", "ledger", "", "x", "meanwhile", 2}));
    CHECK(reader.notes().value().size() == before);
  }
  CHECK(reader.notes().value().size() == before + 1);
}

TEST_CASE("several writers share one server, and no host is there twice") {
  if (missing()) return;
  const Server server;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      auto db = Database::open(server.url());
      if (!db) return;
      for (int k = 0; k < 10; ++k) {
        HostRow host;
        host.fingerprint = "machine-" + std::to_string(k);
        (void)db->add_host(host);
        (void)db->add_note({0, "", "ledger", "", "x", "note", k});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Database db = Database::open(server.url(), OpenMode::kReadOnly).value();
  CHECK(db.notes().value().size() == 40);
  std::size_t hosts = 0;
  for (const TravelRow& row : exported(db)) hosts += row.table == "host" ? 1 : 0;
  CHECK(hosts == 10);
  CHECK_FALSE(db.add_note({0, "", "ledger", "", "x", "read-only", 1}));
}

TEST_CASE("a server that goes away is an error of one line, and what was committed stays") {
  if (missing()) return;
  Server server;
  Database db = Database::open(server.url()).value();
  REQUIRE(db.add_note({0, "", "ledger", "", "x", "before", 1}));
  server.kill();
  const auto lost = db.add_note({0, "", "ledger", "", "x", "after", 2});
  REQUIRE_FALSE(lost);
  CHECK(lost.error().code == Errc::kIo);
  CHECK(lost.error().text().find('\n') == std::string::npos);
  CHECK(Database::open(server.url()).error().code == Errc::kIo);
  server.start();
  CHECK(Database::open(server.url()).value().notes().value().size() == 1);
}

TEST_CASE("a newer schema is refused, and a password has no place in a URL") {
  CHECK(Database::open("postgresql://u:secret@localhost/db").error().code == Errc::kUsage);
  CHECK(Database::open("postgresql://u:secret@localhost/db").error().text().find("secret") == std::string::npos);
  CHECK(Database::open("postgresql://u@localhost/db?password=secret").error().code == Errc::kUsage);
  CHECK(Database::open("postgresql://%%%").error().code == Errc::kUsage);
  CHECK(Database::open("postgresql:///x?host=/nowhere").error().code == Errc::kIo);
  CHECK(postgres_schema("a INTEGER PRIMARY KEY, b REAL, c BLOB, d TEXT) STRICT, WITHOUT ROWID;") ==
        "a BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, b DOUBLE PRECISION, c BYTEA, d TEXT COLLATE \"C\");");
  if (missing()) return;
  const Server server;
  auto connection = open_postgres(server.url(), OpenMode::kReadWrite).value();
  REQUIRE(connection->execute("INSERT INTO schema_version VALUES (999)"));
  CHECK(Database::open(server.url()).error().code == Errc::kRefused);
}
