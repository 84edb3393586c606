#include <algorithm>
#include <map>
#include <optional>

#include "store/exchange.h"
#include "store/figures.h"
#include "store/row_io.h"
#include "store/travel_tables.h"

namespace bk::store {
namespace {

const Cell* column_of(const TravelRow& row, std::string_view name) {
  const auto it = std::find_if(row.columns.begin(), row.columns.end(), [&](const auto& c) { return c.first == name; });
  return it == row.columns.end() ? nullptr : &it->second;
}

std::string text_of(const Cell* cell) {
  const auto* text = cell == nullptr ? nullptr : std::get_if<std::string>(cell);
  return text == nullptr ? std::string() : *text;
}

std::optional<std::int64_t> integer_of(const Cell* cell) {
  const auto* value = cell == nullptr ? nullptr : std::get_if<std::int64_t>(cell);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

/// 62 and 62.0 are one number: text may have lost the point.
bool same(const Cell& a, const Cell& b) {
  if (a == b) return true;
  const auto real = [](const Cell& cell) -> std::optional<double> {
    if (const auto* d = std::get_if<double>(&cell)) return *d;
    if (const auto* i = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*i);
    return std::nullopt;
  };
  const auto x = real(a), y = real(b);
  return x && y && *x == *y;
}

bool is_referred_to(const TravelTable& table) {
  const auto names = [&](const TravelTable& other) {
    return std::any_of(other.references.begin(), other.references.end(),
                       [&](const Reference& reference) { return reference.table == table.name; });
  };
  return std::any_of(travel_tables().begin(), travel_tables().end(), names);
}

/// A row of this database by what names it.
struct Standing {
  RowId id = 0;
  std::vector<Cell> cells;  ///< of TravelTable::columns
};

Result<std::optional<Standing>> find_row(Connection& connection, const TravelTable& table, const std::string& key) {
  std::string list = "id";
  for (const std::string& column : table.columns) list += ", " + column;
  BK_ASSIGN(const auto rows,
            connection.query(fmt::format("SELECT {} FROM {} WHERE {} = ?1", list, table.name, table.key), {key}));
  BK_ASSIGN(const bool found, rows->next());
  if (!found) return std::optional<Standing>();
  Standing standing;
  standing.id = std::get<std::int64_t>(rows->cell(0));
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    standing.cells.push_back(rows->cell(static_cast<int>(i) + 1));
  }
  return std::optional<Standing>(std::move(standing));
}

Status check_columns(const TravelTable& table, const TravelRow& row) {
  for (const auto& [name, cell] : row.columns) {
    const bool known = std::any_of(table.columns.begin(), table.columns.end(),
                                   [&, &n = name](const auto& column) { return travel_name(table, column) == n; });
    if (!known) {
      return fail(Errc::kUsage,
                  "a " + table.name + " has no '" + name + "' in this version; use the one that wrote it");
    }
  }
  return {};
}

}  // namespace

struct Importer::State {
  State(Connection& c, Transaction t) : connection(c), transaction(std::move(t)) {}
  Connection& connection;
  Transaction transaction;
  ImportTally tally;
  std::set<RowId> boots;  ///< whose samples changed
  std::map<std::pair<std::string, std::string>, RowId> ids;

  Result<RowId> resolve(const Reference& reference, const std::string& key, const std::string& from);
  Result<RowWriter> writer_of(const TravelTable& table, const TravelRow& row);
  Result<RowId> place(const TravelTable& table, const TravelRow& row, const std::string& key, bool* fresh);
  Status add_parts(const TravelTable& table, const TravelRow& row, RowId parent, bool fresh);
};

Result<RowId> Importer::State::resolve(const Reference& reference, const std::string& key, const std::string& from) {
  const auto known = ids.find({reference.table, key});
  if (known != ids.end()) return known->second;
  BK_ASSIGN(
      const Cell id,
      query_cell(connection, fmt::format("SELECT id FROM {} WHERE {} = ?1", reference.table, reference.key), {key}));
  const auto* number = std::get_if<std::int64_t>(&id);
  if (number == nullptr) {
    return fail(Errc::kUsage,
                fmt::format("a {} names the {} {}, which is neither here nor before it", from, reference.table, key));
  }
  ids[{reference.table, key}] = *number;
  return *number;
}

Result<RowWriter> Importer::State::writer_of(const TravelTable& table, const TravelRow& row) {
  RowWriter writer;
  for (const std::string& column : table.columns) {
    const Cell* cell = column_of(row, travel_name(table, column));
    if (cell == nullptr) continue;  // written by a version that had no such column
    const Reference* reference = reference_of(table, column);
    if (reference == nullptr || std::holds_alternative<std::monostate>(*cell)) {
      writer.put(column, *cell);
      continue;
    }
    BK_ASSIGN(const RowId id, resolve(*reference, text_of(cell), table.name));
    writer.put(column, id);
  }
  return writer;
}

Result<RowId> Importer::State::place(const TravelTable& table, const TravelRow& row, const std::string& key,
                                     bool* fresh) {
  BK_ASSIGN(RowWriter writer, writer_of(table, row));
  BK_ASSIGN(const auto standing, find_row(connection, table, key));
  *fresh = !standing;
  if (!standing) {
    if (table.name == "host") writer.put("uid", key.substr(0, 26));
    ++tally.added;
    tally.brackets += table.name == "bracket" ? 1 : 0;
    return insert_cells(connection, table.name, writer);
  }
  std::optional<std::int64_t> here, there = integer_of(column_of(row, "ended_wall_ns"));
  bool differs = false;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i] == "ended_wall_ns") here = integer_of(&standing->cells[i]);
    const Cell* cell = nullptr;
    for (std::size_t k = 0; k < writer.names().size(); ++k) {
      if (writer.names()[k] == table.columns[i]) cell = &writer.cells()[k];
    }
    differs = differs || (cell != nullptr && !same(*cell, standing->cells[i]));
  }
  if (!differs || table.name == "host") {
    ++tally.known;
    return standing->id;
  }
  if (!table.grows || (here && there && *here == *there)) {
    return fail(Errc::kMismatch,
                fmt::format("the {} {} stands here with other content; one of the two was edited", table.name, key));
  }
  if (!there || (here && *here > *there)) {
    ++tally.known;
    return standing->id;
  }
  std::string assignments;
  std::vector<Cell> parameters = {standing->id};
  for (std::size_t k = 0; k < writer.names().size(); ++k) {
    parameters.push_back(writer.cells()[k]);
    assignments += fmt::format("{}{} = ?{}", k == 0 ? "" : ", ", writer.names()[k], parameters.size());
  }
  BK_TRY(run_statement(connection, "UPDATE " + table.name + " SET " + assignments + " WHERE id = ?1", parameters));
  ++tally.updated;
  return standing->id;
}

/// Parts of a new row are added; those of a known one only where it has none of their kind: a text export leaves the
/// requests out, and the database that has them may come later.
Status Importer::State::add_parts(const TravelTable& table, const TravelRow& row, RowId parent, bool fresh) {
  std::map<std::string, bool> wanted;
  for (const TravelRow& child : row.parts) {
    const auto part = std::find_if(table.parts.begin(), table.parts.end(),
                                   [&](const PartTable& candidate) { return candidate.name == child.table; });
    if (part == table.parts.end()) {
      return fail(Errc::kUsage, "a " + table.name + " has no part '" + child.table + "' in this version");
    }
    const auto [it, first] = wanted.try_emplace(child.table, true);
    if (first && !fresh) {
      BK_ASSIGN(
          const Cell one,
          query_cell(connection, fmt::format("SELECT 1 FROM {} WHERE {} = ?1 LIMIT 1", part->name, part->parent_column),
                     {parent}));
      it->second = std::holds_alternative<std::monostate>(one);
    }
    if (!it->second) continue;
    RowWriter writer;
    writer.put(part->parent_column, parent);
    for (const auto& [name, cell] : child.columns) {
      if (std::find(part->columns.begin(), part->columns.end(), name) == part->columns.end()) {
        return fail(Errc::kUsage, "a " + part->name + " has no '" + name + "' in this version");
      }
      writer.put(name, cell);
    }
    BK_TRY(insert_cells(connection, part->name, writer, false));
  }
  return {};
}

Importer::Importer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Importer::Importer(Importer&&) noexcept = default;
Importer::~Importer() = default;

Result<Importer> Importer::begin(Database& database) {
  BK_ASSIGN(Transaction transaction, Transaction::begin(database.connection()));
  return Importer(std::make_unique<State>(database.connection(), std::move(transaction)));
}

Status Importer::add(const TravelRow& row) {
  const TravelTable* table = travel_table(row.table);
  if (table == nullptr) {
    return fail(Errc::kUsage, "no table '" + row.table + "' in this version; use the one that wrote it");
  }
  BK_TRY(check_columns(*table, row));
  const std::string key = text_of(column_of(row, table->key));
  if (key.empty()) return fail(Errc::kUsage, "a " + table->name + " without its " + table->key);
  bool fresh = false;
  BK_ASSIGN(const RowId id, state_->place(*table, row, key, &fresh));
  if (is_referred_to(*table)) state_->ids[{table->name, key}] = id;
  BK_TRY(state_->add_parts(*table, row, id, fresh));
  if (table->name == "sample" && fresh) {
    BK_ASSIGN(const Cell boot,
              query_cell(state_->connection,
                         "SELECT l.boot_id FROM sample s JOIN leg l ON l.id = s.leg_id WHERE s.id = ?1", {id}));
    if (const auto* number = std::get_if<std::int64_t>(&boot)) state_->boots.insert(*number);
  }
  return {};
}

Result<ImportTally> Importer::finish() {
  for (const RowId boot : state_->boots) BK_TRY(keep_figures(state_->connection, boot));
  BK_TRY(state_->transaction.commit());
  return state_->tally;
}

Result<ImportTally> merge(Database& into, Database& from) {
  BK_ASSIGN(Importer importer, Importer::begin(into));
  BK_TRY(export_rows(from, {}, [&](const TravelRow& row) { return importer.add(row); }));
  return importer.finish();
}

}  // namespace bk::store
