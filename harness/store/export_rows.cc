#include <iterator>

#include "store/exchange.h"
#include "store/travel_tables.h"

namespace bk::store {
namespace {

std::string select_list(const TravelTable& table) {
  std::string list = "t.id";
  for (const std::string& column : table.columns) {
    const Reference* reference = reference_of(table, column);
    list += reference == nullptr
                ? ", t." + column
                : fmt::format(", (SELECT r.{} FROM {} r WHERE r.id = t.{})", reference->key, reference->table, column);
  }
  return list;
}

/// "created_wall_ns, uid" as columns of t: the list selects other tables' uids, too.
std::string qualified(const std::string& order) {
  std::string out = "t.";
  for (const char c : order) {
    out += c;
    if (c == ' ') out += "t.";
  }
  return out;
}

Status add_parts(Connection& connection, const PartTable& part, RowId parent, TravelRow& row) {
  std::string list;
  for (const std::string& column : part.columns) list += (list.empty() ? "" : ", ") + column;
  BK_ASSIGN(const auto rows, connection.query(fmt::format("SELECT {} FROM {} WHERE {} = ?1 ORDER BY {}", list,
                                                          part.name, part.parent_column, part.order),
                                              {parent}));
  for (;;) {
    BK_ASSIGN(const bool more, rows->next());
    if (!more) return {};
    TravelRow& child = row.parts.emplace_back();
    child.table = part.name;
    for (std::size_t i = 0; i < part.columns.size(); ++i) {
      child.columns.emplace_back(part.columns[i], rows->cell(static_cast<int>(i)));
    }
  }
}

/// "WHERE …" of a table in a scope; nothing when the scope holds no row of it.
std::optional<std::string> condition(const TravelTable& table, ExportScope::Kind kind) {
  switch (kind) {
    case ExportScope::Kind::kWhole:
      return "";
    case ExportScope::Kind::kBracket:
      return " WHERE " + table.of_bracket;
    case ExportScope::Kind::kGeneral:
      if (table.name == "note") return " WHERE t.subject_kind <> 'bracket'";
      if (table.name == "calibration") return "";
      return std::nullopt;
  }
  return std::nullopt;
}

Status export_table(Connection& connection, const TravelTable& table, const ExportScope& scope,
                    const std::function<Status(const TravelRow&)>& sink) {
  const auto where = condition(table, scope.kind);
  if (!where) return {};
  const bool by_bracket = where->find("?1") != std::string::npos;
  BK_ASSIGN(const auto rows, connection.query("SELECT " + select_list(table) + " FROM " + table.name + " t" + *where +
                                                  " ORDER BY " + qualified(table.order),
                                              by_bracket ? std::vector<Cell>{scope.bracket} : std::vector<Cell>{}));
  for (;;) {
    BK_ASSIGN(const bool more, rows->next());
    if (!more) return {};
    TravelRow row;
    row.table = table.name;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      Cell cell = rows->cell(static_cast<int>(i) + 1);
      const Reference* reference = reference_of(table, table.columns[i]);
      if (reference != nullptr && reference->rare && std::holds_alternative<std::monostate>(cell)) continue;
      row.columns.emplace_back(travel_name(table, table.columns[i]), std::move(cell));
    }
    const Cell id = rows->cell(0);
    for (const PartTable& part : table.parts) {
      if (part.is_traffic && !scope.requests) continue;
      BK_TRY(add_parts(connection, part, std::get<std::int64_t>(id), row));
    }
    BK_TRY(sink(row));
  }
}

}  // namespace

Status export_rows(Database& database, const ExportScope& scope, const std::function<Status(const TravelRow&)>& sink) {
  Connection& connection = database.connection();
  for (const TravelTable& table : travel_tables()) BK_TRY(export_table(connection, table, scope, sink));
  return {};
}

Result<std::string> change_mark(Database& database) { return database.connection().change_mark(); }

}  // namespace bk::store
