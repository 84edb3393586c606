#include "store/postgres.h"

#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <regex>

#include "base/text.h"
#include "store/migrate.h"
#include "store/migrations.h"

namespace bk::store {
namespace {

/// Type numbers of pg_type.dat, which PostgreSQL never changes.
constexpr Oid kInt8 = 20, kInt2 = 21, kInt4 = 23, kText = 25, kBytea = 17, kFloat4 = 700, kFloat8 = 701,
              kNumeric = 1700;
/// Writers of one database wait for this lock; "bklg".
constexpr const char* kTakeTurn = "BEGIN; SELECT pg_advisory_xact_lock(1651207271)";

struct ResultCloser {
  void operator()(PGresult* result) const { PQclear(result); }
};
using PgResult = std::unique_ptr<PGresult, ResultCloser>;

std::string first_line(const char* text) {
  const auto lines = split_lines(text == nullptr ? "" : text);
  return lines.empty() ? "no reason given" : std::string(trim(lines.front()));
}

tl::unexpected<Error> refuse(PGconn* connection, const PGresult* result, const std::string& where) {
  if (PQstatus(connection) == CONNECTION_BAD) {
    return fail(Errc::kIo,
                "the database server is gone (" + first_line(PQerrorMessage(connection)) +
                    "); what was committed is kept: see that it runs, then resume",
                where);
  }
  const char* state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string code = state == nullptr ? "" : state;
  const bool ours = code.starts_with("22") || code.starts_with("23") || code.starts_with("42");
  const char* reason = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  return fail(ours ? Errc::kInternal : Errc::kIo,
              "database: " + first_line(reason == nullptr ? PQerrorMessage(connection) : reason), where);
}

std::string number_text(double value) {
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end.ptr};
}

/// The parameters of a statement in libpq's arrays; bytea travels as binary, all else as text.
struct Parameters {
  std::vector<std::string> texts;
  std::vector<const char*> values;
  std::vector<Oid> types;
  std::vector<int> lengths, formats;

  explicit Parameters(const std::vector<Cell>& cells) : texts(cells.size()) {
    for (std::size_t i = 0; i < cells.size(); ++i) add(cells[i], texts[i]);
  }

 private:
  void add(const Cell& cell, std::string& text) {
    Oid type = 0;  // a NULL takes the type of where it goes
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
      text = std::to_string(*whole), type = kInt8;
    } else if (const auto* real = std::get_if<double>(&cell)) {
      text = number_text(*real), type = kFloat8;
    } else if (const auto* string = std::get_if<std::string>(&cell)) {
      text = *string, type = kText;
      std::replace(text.begin(), text.end(), '\0', ' ');  // no text of PostgreSQL holds a zero byte
    } else if (const auto* blob = std::get_if<Blob>(&cell)) {
      text = blob->bytes, type = kBytea;
    }
    values.push_back(std::holds_alternative<std::monostate>(cell) ? nullptr : text.data());
    types.push_back(type);
    lengths.push_back(static_cast<int>(text.size()));
    formats.push_back(type == kBytea ? 1 : 0);
  }
};

class PostgresRows final : public Rows {
 public:
  explicit PostgresRows(PgResult result) : result_(std::move(result)) {}
  Result<bool> next() override { return ++row_ < PQntuples(result_.get()); }

  Cell cell(int column) const override {
    if (PQgetisnull(result_.get(), row_, column) != 0) return {};
    const char* text = PQgetvalue(result_.get(), row_, column);
    const auto size = static_cast<std::size_t>(PQgetlength(result_.get(), row_, column));
    switch (PQftype(result_.get(), column)) {
      case kInt2:
      case kInt4:
      case kInt8:
        return parse_int(std::string_view(text, size)).value_or(0);
      case kFloat4:
      case kFloat8:
      case kNumeric:
        return parse_double(std::string_view(text, size)).value_or(0);
      case kBytea:
        return bytes(text);
      default:
        return std::string(text, size);
    }
  }

 private:
  static Cell bytes(const char* text) {
    std::size_t size = 0;
    unsigned char* raw = PQunescapeBytea(reinterpret_cast<const unsigned char*>(text), &size);
    Blob blob{raw == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(raw), size)};
    PQfreemem(raw);
    return blob;
  }

  PgResult result_;
  int row_ = -1;
};

/// ?1 of the store's SQL is $1 here; a question mark inside quotes stands as it is.
std::string with_dollars(const std::string& sql) {
  std::string out;
  bool quoted = false;
  for (const char c : sql) {
    if (c == '\'') quoted = !quoted;
    out += c == '?' && !quoted ? '$' : c;
  }
  return out;
}

class PostgresConnection final : public Connection {
 public:
  PostgresConnection(PGconn* connection, std::string where) : connection_(connection), where_(std::move(where)) {}
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;
  ~PostgresConnection() override { PQfinish(connection_); }

  Status execute(const std::string& script) override {
    const PgResult result(PQexec(connection_, script.c_str()));
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY) {
      return refuse(connection_, result.get(), where_);
    }
    return {};
  }

  Result<std::unique_ptr<Rows>> query(const std::string& sql, const std::vector<Cell>& cells) override {
    const Parameters p(cells);
    PgResult result(PQexecParams(connection_, with_dollars(sql).c_str(), static_cast<int>(cells.size()), p.types.data(),
                                 p.values.data(), p.lengths.data(), p.formats.data(), 0));
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return refuse(connection_, result.get(), where_);
    return std::unique_ptr<Rows>(std::make_unique<PostgresRows>(std::move(result)));
  }

  Status begin() override { return execute(kTakeTurn); }
  Status begin_reading() override { return execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"); }
  Status commit() override { return execute("COMMIT"); }
  void rollback() noexcept override { PQclear(PQexec(connection_, "ROLLBACK")); }
  Result<std::string> change_mark() override {
    BK_ASSIGN(const Cell snapshot, query_cell(*this, "SELECT pg_current_snapshot()::text", {}));
    return std::get<std::string>(snapshot);
  }
  /// The server checks its pages and keys itself.
  Result<std::vector<std::string>> problems() override { return std::vector<std::string>{}; }
  Status copy_to(const std::string&) override {
    return fail(Errc::kUnavailable, "a server's database is copied with pg_dump, or with `ledger merge` into a file",
                where_);
  }

 private:
  PGconn* connection_;
  std::string where_;
};

Result<std::int64_t> version_of(Connection& connection) {
  BK_ASSIGN(const Cell table, query_cell(connection, "SELECT to_regclass('schema_version')::text", {}));
  if (std::holds_alternative<std::monostate>(table)) return 0;
  BK_ASSIGN(const Cell version, query_cell(connection, "SELECT max(version) FROM schema_version", {}));
  const auto* number = std::get_if<std::int64_t>(&version);
  return number == nullptr ? 0 : *number;
}

/// json_valid() is SQLite's; here it is a function of ours.
constexpr const char* kPreparation = R"sql(
CREATE FUNCTION json_valid(t TEXT) RETURNS BOOLEAN LANGUAGE plpgsql IMMUTABLE AS
  $$ BEGIN PERFORM t::json; RETURN TRUE; EXCEPTION WHEN OTHERS THEN RETURN FALSE; END $$;
CREATE TABLE schema_version (version BIGINT NOT NULL);
)sql";

Status bring_up_to_date(Connection& connection, const std::string& where, OpenMode mode) {
  BK_ASSIGN(const std::int64_t before, version_of(connection));
  if (before > schema_version()) {
    return fail(Errc::kRefused,
                fmt::format("the database has schema {}, this program knows up to {}: use the newer version that wrote "
                            "it",
                            before, schema_version()),
                where);
  }
  if (before == schema_version()) return {};
  if (mode == OpenMode::kReadOnly) {
    return fail(
        Errc::kRefused,
        fmt::format("the database has schema {}, this program reads {}: a command that writes to it brings it up "
                    "to date (ledger import, bracket verdict, any bench with --db)",
                    before, schema_version()),
        where);
  }
  BK_ASSIGN(Transaction transaction, Transaction::begin(connection));
  BK_ASSIGN(const std::int64_t version, version_of(connection));  // another program may have been first
  if (version == 0) BK_TRY(connection.execute(kPreparation));
  for (std::size_t i = 0; i < kMigrationCount; ++i) {
    if (kMigrations[i].version <= version) continue;
    BK_TRY(connection.execute(postgres_schema(kMigrations[i].sql)));
    BK_TRY(run_statement(connection, "INSERT INTO schema_version VALUES (?1)", {std::int64_t{kMigrations[i].version}}));
  }
  return transaction.commit();
}

Status refuse_password(const std::string& url) {
  PQconninfoOption* options = PQconninfoParse(url.c_str(), nullptr);
  bool has_password = false;
  for (const PQconninfoOption* o = options; o != nullptr && o->keyword != nullptr; ++o) {
    has_password = has_password || (std::strcmp(o->keyword, "password") == 0 && o->val != nullptr);
  }
  PQconninfoFree(options);
  if (options == nullptr) return fail(Errc::kUsage, "not a URL like postgresql://user@host/database", "--db");
  if (has_password) {
    return fail(Errc::kUsage,
                "a password in the URL would stand in logs and in the database; give it in PGPASSWORD or ~/.pgpass",
                "--db");
  }
  return {};
}

}  // namespace

std::string postgres_schema(std::string sql) {
  static const std::pair<std::regex, const char*> kChanges[] = {
      {std::regex("INTEGER PRIMARY KEY"), "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"},
      {std::regex("\\bINTEGER\\b"), "BIGINT"},
      {std::regex("\\bREAL\\b"), "DOUBLE PRECISION"},
      {std::regex("\\bBLOB\\b"), "BYTEA"},
      {std::regex("\\bTEXT\\b"), "TEXT COLLATE \"C\""},
      {std::regex("\\) STRICT(, WITHOUT ROWID)?;"), ");"},
  };
  for (const auto& [from, to] : kChanges) sql = std::regex_replace(sql, from, to);
  return sql;
}

Result<std::unique_ptr<Connection>> open_postgres(const std::string& url, OpenMode mode) {
  BK_TRY(refuse_password(url));
  PGconn* raw = PQconnectdb(url.c_str());
  auto connection = std::make_unique<PostgresConnection>(raw, url);
  if (PQstatus(raw) != CONNECTION_OK) {
    return fail(Errc::kIo, "cannot reach the database server: " + first_line(PQerrorMessage(raw)), url);
  }
  PQsetNoticeProcessor(
      raw, [](void*, const char*) {}, nullptr);
  BK_TRY(connection->execute("SET client_encoding = 'UTF8'"));
  BK_TRY(bring_up_to_date(*connection, url, mode));
  if (mode == OpenMode::kReadOnly) BK_TRY(connection->execute("SET default_transaction_read_only = on"));
  return std::unique_ptr<Connection>(std::move(connection));
}

}  // namespace bk::store
