#include "store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "store/migrate.h"

namespace bk::store {
namespace {

constexpr Nanos kBusyLimit = 30 * kSecond;

/// SQLite's own handler backs off to 100 ms, so a writer that commits often starves the others; short random waits
/// give everyone a turn.
int wait_for_lock(void* started_at, int attempt) {
  thread_local std::minstd_rand random(std::random_device{}());
  auto& started = *static_cast<Nanos*>(started_at);
  if (attempt == 0) started = monotonic_now();
  if (monotonic_now() - started > kBusyLimit) return 0;
  std::this_thread::sleep_for(std::chrono::microseconds(500 + random() % 4000));
  return 1;
}

std::string explain(int code, const char* message) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "no space left for the database; what was committed is kept: free space, then resume";
    case SQLITE_IOERR:
      return std::string("the disk refused the database's read or write (") + message +
             "); what was committed is kept: check space and file size limits, then resume";
    case SQLITE_NOTADB:
      return "not a database; name another file with --db";
    case SQLITE_CORRUPT:
      return "the database is damaged; restore a copy or name another file with --db";
    case SQLITE_CANTOPEN:
      return "cannot open the database; check that its directory exists and may be read and written";
    case SQLITE_READONLY:
      return "the database may not be written; check the permissions of the file and its directory";
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return "no permission for the database";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another program held the database for more than 30 s; end it, then try again";
    default:
      return std::string("database: ") + message;
  }
}

Error to_error(sqlite3* db, int code, const std::string& path) {
  const int primary = code & 0xff;
  const bool misuse = primary == SQLITE_CONSTRAINT || primary == SQLITE_ERROR || primary == SQLITE_MISUSE;
  return {misuse ? Errc::kInternal : Errc::kIo,
          explain(code, db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code)), path};
}

int bind_cell(sqlite3_stmt* statement, int index, const Cell& cell) {
  if (const auto* i = std::get_if<std::int64_t>(&cell)) return sqlite3_bind_int64(statement, index, *i);
  if (const auto* d = std::get_if<double>(&cell)) return sqlite3_bind_double(statement, index, *d);
  if (const auto* s = std::get_if<std::string>(&cell)) {
    return sqlite3_bind_text64(statement, index, s->data(), s->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  if (const auto* b = std::get_if<Blob>(&cell)) {
    return sqlite3_bind_blob64(statement, index, b->bytes.data(), b->bytes.size(), SQLITE_TRANSIENT);
  }
  return sqlite3_bind_null(statement, index);
}

struct Prepared {
  sqlite3_stmt* statement = nullptr;
  bool in_use = false;
};

/// Steps a statement that its connection keeps; gives it back when it goes.
class SqliteRows final : public Rows {
 public:
  SqliteRows(sqlite3* db, Prepared* prepared, const std::string& path) : db_(db), prepared_(prepared), path_(path) {}
  SqliteRows(const SqliteRows&) = delete;
  SqliteRows& operator=(const SqliteRows&) = delete;
  ~SqliteRows() override {
    sqlite3_reset(prepared_->statement);
    sqlite3_clear_bindings(prepared_->statement);
    prepared_->in_use = false;
  }

  Result<bool> next() override {
    const int code = sqlite3_step(prepared_->statement);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return fail(to_error(db_, code, path_));
  }

  Cell cell(int column) const override {
    sqlite3_stmt* statement = prepared_->statement;
    switch (sqlite3_column_type(statement, column)) {
      case SQLITE_INTEGER:
        return std::int64_t{sqlite3_column_int64(statement, column)};
      case SQLITE_FLOAT:
        return sqlite3_column_double(statement, column);
      case SQLITE_TEXT: {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
        return std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
      }
      case SQLITE_BLOB: {
        const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
        const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
        return Blob{size == 0 ? std::string() : std::string(bytes, size)};
      }
      default:
        return std::monostate();
    }
  }

 private:
  sqlite3* db_;
  Prepared* prepared_;
  const std::string& path_;
};

class SqliteConnection final : public Connection {
 public:
  SqliteConnection(sqlite3* db, std::string path) : db_(db), path_(std::move(path)) {
    sqlite3_busy_handler(db_, wait_for_lock, &busy_since_);
  }
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;
  ~SqliteConnection() override {
    for (auto& entry : prepared_) sqlite3_finalize(entry.second->statement);
    sqlite3_close(db_);
  }

  Status execute(const std::string& script) override {
    const int code = sqlite3_exec(db_, script.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return fail(to_error(db_, code, path_));
    return {};
  }

  Result<std::unique_ptr<Rows>> query(const std::string& sql, const std::vector<Cell>& parameters) override {
    BK_ASSIGN(Prepared * prepared, prepare(sql));
    std::unique_ptr<Rows> rows = std::make_unique<SqliteRows>(db_, prepared, path_);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const int code = bind_cell(prepared->statement, static_cast<int>(i) + 1, parameters[i]);
      if (code != SQLITE_OK) return fail(to_error(db_, code, path_));
    }
    return rows;
  }

  /// A lock that the busy handler may not wait for (a WAL being recovered) is tried again up to the same limit.
  Status begin() override {
    const Nanos limit = monotonic_now() + kBusyLimit;
    for (;;) {
      const int code = sqlite3_exec(db_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
      if (code == SQLITE_OK) return {};
      if ((code & 0xff) != SQLITE_BUSY || monotonic_now() > limit) return fail(to_error(db_, code, path_));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  Status begin_reading() override { return execute("BEGIN"); }
  Status commit() override { return execute("COMMIT"); }
  void rollback() noexcept override {
    if (sqlite3_get_autocommit(db_) == 0) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
  }

  Result<std::string> change_mark() override {
    BK_ASSIGN(const Cell version, query_cell(*this, "PRAGMA data_version", {}));
    return std::to_string(std::get<std::int64_t>(version));
  }
  Result<std::vector<std::string>> problems() override {
    std::vector<std::string> found;
    {
      BK_ASSIGN(const auto rows, query("PRAGMA integrity_check", {}));
      for (;;) {
        BK_ASSIGN(const bool more, rows->next());
        if (!more) break;
        const Cell line = rows->cell(0);
        if (const auto* text = std::get_if<std::string>(&line); text != nullptr && *text != "ok")
          found.push_back(*text);
      }
    }
    BK_ASSIGN(const auto rows, query("PRAGMA foreign_key_check", {}));
    for (;;) {
      BK_ASSIGN(const bool more, rows->next());
      if (!more) return found;
      const Cell table = rows->cell(0), row = rows->cell(1), parent = rows->cell(2);
      const auto* id = std::get_if<std::int64_t>(&row);
      found.push_back(fmt::format("row {} of {} names a row of {} that is not there", id == nullptr ? 0 : *id,
                                  std::get<std::string>(table), std::get<std::string>(parent)));
    }
  }
  Status copy_to(const std::string& path) override { return run_statement(*this, "VACUUM INTO ?1", {path}); }

  /// Changing to WAL takes a lock that the busy handler is not asked for.
  Status enter_wal() {
    const Nanos limit = monotonic_now() + kBusyLimit;
    for (;;) {
      const int code = sqlite3_exec(db_, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
      if (code == SQLITE_OK) return {};
      if ((code & 0xff) != SQLITE_BUSY || monotonic_now() > limit) return fail(to_error(db_, code, path_));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

 private:
  Result<Prepared*> prepare(const std::string& sql) {
    const auto [begin, end] = prepared_.equal_range(sql);
    for (auto it = begin; it != end; ++it) {
      if (!it->second->in_use) {
        it->second->in_use = true;
        return it->second.get();
      }
    }
    auto fresh = std::make_unique<Prepared>();
    const int code = sqlite3_prepare_v3(db_, sql.c_str(), static_cast<int>(sql.size()) + 1, SQLITE_PREPARE_PERSISTENT,
                                        &fresh->statement, nullptr);
    if (code != SQLITE_OK) return fail(to_error(db_, code, path_));
    fresh->in_use = true;
    return prepared_.emplace(sql, std::move(fresh))->second.get();
  }

  sqlite3* db_;
  std::string path_;
  Nanos busy_since_ = 0;
  std::unordered_multimap<std::string, std::unique_ptr<Prepared>> prepared_;
};

/// A database at rest in a folder that this user may not write to: readers of a write-ahead log want to create files
/// beside it, so it is opened as one that nobody changes.
bool is_archive(const std::string& path) {
  const std::filesystem::path file(path);
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code unread;
  return access(folder.c_str(), W_OK) != 0 && std::filesystem::exists(file, unread) &&
         !std::filesystem::exists(path + "-wal", unread);
}

std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

Result<std::unique_ptr<Connection>> open_sqlite(const std::string& path, OpenMode mode) {
  // Its allocator's statistics, which nobody reads, are one lock that all threads take.
  [[maybe_unused]] static const int kConfigured = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  sqlite3* db = nullptr;
  const int flags = mode == OpenMode::kReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const bool archive = mode == OpenMode::kReadOnly && is_archive(path);
  const int code = archive ? sqlite3_open_v2(immutable_uri(path).c_str(), &db,
                                             flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, nullptr)
                           : sqlite3_open_v2(path.c_str(), &db, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  auto connection = std::make_unique<SqliteConnection>(db, path);
  if (code != SQLITE_OK) {
    const int reason = sqlite3_system_errno(db);
    Error error = to_error(db, code, path);
    if (reason != 0) error.what += std::string(" (") + std::strerror(reason) + ")";
    return fail(std::move(error));
  }
  sqlite3_extended_result_codes(db, 1);
  BK_TRY(connection->execute("PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY"));
  BK_TRY(check_identity(*connection, path));
  if (mode == OpenMode::kReadOnly) {
    BK_TRY(require_current_schema(*connection, path));
  } else {
    BK_TRY(connection->enter_wal());
    BK_TRY(migrate(*connection, path));
  }
  return std::unique_ptr<Connection>(std::move(connection));
}

}  // namespace bk::store
