#pragma once
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/columns.h"
#include "store/connection.h"
#include "store/event_codec.h"

/// Rows to and from cells, by the visitors that columns.h feeds.
namespace bk::store {

/// Column names and cells of a row. A number that is not finite is a missing one.
class RowWriter {
 public:
  void operator()(const char* name, const std::string& text) { put(name, text); }
  void operator()(const char* name, std::int64_t value) { put(name, value); }
  void operator()(const char* name, bool value) { put(name, std::int64_t{value ? 1 : 0}); }
  void operator()(const char* name, const std::optional<std::int64_t>& value) {
    put(name, value ? Cell(*value) : Cell());
  }
  void operator()(const char* name, const std::optional<double>& value) { put(name, finite(value)); }
  void operator()(const std::string& name, const Value& value) {
    const Cell cell = finite(value.value);
    const bool missing = std::holds_alternative<std::monostate>(cell);
    put(name, cell);
    if (!missing) {
      put(name + "_reason", Cell());
    } else {
      put(name + "_reason", value.value ? "not_finite" : value.reason.empty() ? "unstated" : value.reason);
    }
  }
  void operator()(const char* name, const std::vector<EventRow>& events);
  void optional(const char* name, const std::string& text) { put(name, text.empty() ? Cell() : Cell(text)); }
  void effect(const std::string& name, const char* unit, const EffectRow& effect) {
    put(name + "_" + unit, finite(effect.value)), put(name + "_lo_" + unit, finite(effect.lo));
    put(name + "_hi_" + unit, finite(effect.hi)), put(name + "_reason", effect.reason);
  }

  void put(std::string name, Cell cell) {
    names_.push_back(std::move(name));
    cells_.push_back(std::move(cell));
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  static Cell finite(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? Cell(*value) : Cell();
  }
  std::vector<std::string> names_;
  std::vector<Cell> cells_;
  Status status_;
};

/// Fills members from the columns of the row at hand, from left to right.
class RowReader {
 public:
  explicit RowReader(const Rows& rows, int first = 0) : rows_(rows), next_(first) {}
  void operator()(const char*, std::string& text) { text = take_text(); }
  void operator()(const char*, std::int64_t& value) { value = take_integer().value_or(0); }
  void operator()(const char*, bool& value) { value = take_integer().value_or(0) != 0; }
  void operator()(const char*, std::optional<std::int64_t>& value) { value = take_integer(); }
  void operator()(const char*, std::optional<double>& value) { value = take_real(); }
  void operator()(const char*, Value& value) { value.value = take_real(), value.reason = take_text(); }
  void operator()(const char*, std::vector<EventRow>& events);
  void optional(const char*, std::string& text) { text = take_text(); }
  void effect(const char*, const char*, EffectRow& effect) {
    effect.value = take_real(), effect.lo = take_real(), effect.hi = take_real(), effect.reason = take_text();
  }
  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] int next() const { return next_; }

 private:
  std::string take_text();
  std::optional<std::int64_t> take_integer();
  std::optional<double> take_real();
  const Rows& rows_;
  int next_;
  Status status_;
};

/// "t.id, t.uid, …" of a row type, as RowReader reads them after the id.
template <class Row>
std::string column_list(const std::string& alias, bool with_id = true) {
  RowWriter names;
  const Row row;
  visit_columns(names, row);
  std::string list = with_id ? alias + ".id" : std::string();
  for (const std::string& name : names.names()) list += (list.empty() ? "" : ", ") + alias + "." + name;
  return list;
}

/// A whole row with its id in the first column at `first`; gives the column after the last.
template <class Row>
Result<int> read_row(const Rows& rows, Row& row, int first = 0) {
  const Cell id = rows.cell(first);
  if (const auto* number = std::get_if<std::int64_t>(&id)) row.id = *number;
  RowReader reader(rows, first + 1);
  visit_columns(reader, row);
  BK_TRY(reader.status());
  return reader.next();
}

/// INSERT of everything the writer holds; gives the new row's id (0 for tables without one).
[[nodiscard]] Result<RowId> insert_cells(Connection& connection, const std::string& table, const RowWriter& writer,
                                         bool has_id = true);

/// "column = ?1" and its parameter, or "column IS NULL".
struct OwnerCondition {
  std::string sql;
  std::vector<Cell> parameters;
};
inline OwnerCondition owned_by(const std::string& column, std::optional<RowId> owner) {
  // A comparison has the base boots of its matrix or sweep, too.
  if (owner) return {column + " IN (?1, (SELECT family_id FROM bracket WHERE id = ?1))", {*owner}};
  return {column + " IS NULL", {}};
}

/// Every row of "SELECT <columns> FROM <tail>".
template <class Row>
Result<std::vector<Row>> select_rows(Connection& connection, const std::string& alias, const std::string& tail,
                                     const std::vector<Cell>& parameters) {
  BK_ASSIGN(const auto rows, connection.query("SELECT " + column_list<Row>(alias) + " FROM " + tail, parameters));
  std::vector<Row> out;
  for (;;) {
    BK_ASSIGN(const bool more, rows->next());
    if (!more) return out;
    Row row;
    BK_TRY(read_row(*rows, row));
    out.push_back(std::move(row));
  }
}

}  // namespace bk::store
