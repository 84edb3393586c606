#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace bk::store {

/// Bytes, as against text.
struct Blob {
  std::string bytes;
  friend bool operator==(const Blob&, const Blob&) = default;
};

/// One value going into or coming out of a database; monostate is NULL.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string, Blob>;

/// The rows of a running query. Must not outlive its connection.
class Rows {
 public:
  virtual ~Rows() = default;
  /// True when there is a row to read, false at the end.
  virtual Result<bool> next() = 0;
  /// A column of the row, from 0.
  [[nodiscard]] virtual Cell cell(int column) const = 0;
};

/// A database as the store speaks to it: SQL with ?1-style parameters. The seam where another database fits.
class Connection {
 public:
  virtual ~Connection() = default;
  /// Several statements without parameters or rows.
  virtual Status execute(const std::string& script) = 0;
  virtual Result<std::unique_ptr<Rows>> query(const std::string& sql, const std::vector<Cell>& parameters) = 0;
  /// Takes the write lock, waiting for other writers.
  virtual Status begin() = 0;
  /// Everything read until the transaction ends is of one moment, that of the first read; no writer waits for it.
  virtual Status begin_reading() = 0;
  virtual Status commit() = 0;
  virtual void rollback() noexcept = 0;
  /// Another text whenever another program has committed something.
  virtual Result<std::string> change_mark() = 0;
  /// What the database finds wrong with its own pages and foreign keys, a line each.
  virtual Result<std::vector<std::string>> problems() = 0;
  /// A consistent copy as a SQLite file, while others write; kUnavailable where the database cannot.
  virtual Status copy_to(const std::string& path) = 0;
};

/// One statement without rows.
[[nodiscard]] Status run_statement(Connection& connection, const std::string& sql, const std::vector<Cell>& parameters);
/// The first column of the first row; monostate when there is none.
[[nodiscard]] Result<Cell> query_cell(Connection& connection, const std::string& sql,
                                      const std::vector<Cell>& parameters);

/// A transaction: rolled back unless committed.
class Transaction {
 public:
  static Result<Transaction> begin(Connection& connection);
  /// One that only reads, all of it as of one moment.
  static Result<Transaction> begin_reading(Connection& connection);
  Transaction(Transaction&& other) noexcept : connection_(other.connection_) { other.connection_ = nullptr; }
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction() {
    if (connection_ != nullptr) connection_->rollback();
  }
  /// On disk when it returns ok; otherwise nothing of it is.
  Status commit();

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}
  Connection* connection_;
};

}  // namespace bk::store
