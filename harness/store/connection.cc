#include "store/connection.h"

namespace bk::store {

Status run_statement(Connection& connection, const std::string& sql, const std::vector<Cell>& parameters) {
  BK_ASSIGN(const auto rows, connection.query(sql, parameters));
  for (;;) {
    BK_ASSIGN(const bool more, rows->next());
    if (!more) return {};
  }
}

Result<Cell> query_cell(Connection& connection, const std::string& sql, const std::vector<Cell>& parameters) {
  BK_ASSIGN(const auto rows, connection.query(sql, parameters));
  BK_ASSIGN(const bool found, rows->next());
  return found ? rows->cell(0) : Cell();
}

Result<Transaction> Transaction::begin(Connection& connection) {
  BK_TRY(connection.begin());
  return Transaction(connection);
}

Result<Transaction> Transaction::begin_reading(Connection& connection) {
  BK_TRY(connection.begin_reading());
  return Transaction(connection);
}

Status Transaction::commit() {
  BK_TRY(connection_->commit());
  connection_ = nullptr;
  return {};
}

}  // namespace bk::store
