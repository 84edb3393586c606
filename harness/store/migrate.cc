#include "store/migrate.h"

#include "store/migrations.h"

namespace bk::store {
namespace {

/// "bklg", in SQLite's header: tells a results database from any other.
constexpr std::int64_t kApplicationId = 0x626b6c67;

Result<std::int64_t> number(Connection& connection, const std::string& sql) {
  BK_ASSIGN(const Cell cell, query_cell(connection, sql, {}));
  const auto* value = std::get_if<std::int64_t>(&cell);
  return value == nullptr ? 0 : *value;
}

tl::unexpected<Error> refuse_newer(std::int64_t version, const std::string& path) {
  return fail(
      Errc::kRefused,
      fmt::format("the database has schema {}, this program knows up to {}: use the newer version that wrote it",
                  version, schema_version()),
      path);
}

}  // namespace

int schema_version() { return kMigrations[kMigrationCount - 1].version; }

Status check_identity(Connection& connection, const std::string& path) {
  BK_ASSIGN(const std::int64_t id, number(connection, "PRAGMA application_id"));
  BK_ASSIGN(const std::int64_t version, number(connection, "PRAGMA user_version"));
  BK_ASSIGN(const std::int64_t objects, number(connection, "SELECT count(*) FROM sqlite_master"));
  if (id == 0 && version == 0 && objects == 0) return {};
  if (id != kApplicationId) {
    return fail(Errc::kIo, "a database of another program; name another file with --db", path);
  }
  if (version > schema_version()) return refuse_newer(version, path);
  return {};
}

Status migrate(Connection& connection, const std::string& path) {
  BK_ASSIGN(const std::int64_t before, number(connection, "PRAGMA user_version"));
  if (before == schema_version()) return {};
  BK_ASSIGN(Transaction transaction, Transaction::begin(connection));
  BK_ASSIGN(const std::int64_t version, number(connection, "PRAGMA user_version"));
  if (version > schema_version()) return refuse_newer(version, path);
  for (std::size_t i = 0; i < kMigrationCount; ++i) {
    if (kMigrations[i].version > version) BK_TRY(connection.execute(kMigrations[i].sql));
  }
  BK_TRY(connection.execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, schema_version())));
  return transaction.commit();
}

Status require_current_schema(Connection& connection, const std::string& path) {
  BK_ASSIGN(const std::int64_t version, number(connection, "PRAGMA user_version"));
  if (version == schema_version()) return {};
  return fail(
      Errc::kRefused,
      fmt::format("the database has schema {}, this program reads {}: a command that writes to it brings it up to "
                  "date (ledger import, bracket verdict, any bench with --db)",
                  version, schema_version()),
      path);
}

}  // namespace bk::store
