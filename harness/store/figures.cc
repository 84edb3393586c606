#include "store/figures.h"

#include <map>
#include <set>
#include <utility>

#include "stats/summary.h"
#include "store/row_io.h"
#include "store/store.h"

namespace bk::store {
namespace {

/// What the samples of one cell hold: values by metric, acceptance by sample.
struct CellValues {
  std::set<RowId> succeeded, failed;
  std::map<std::string, std::vector<double>> metrics;
  std::map<RowId, double> acceptance;
};

BootFigure figure_of(RowId boot, const std::string& cell, const std::string& name, const CellValues& values,
                     const std::vector<double>& numbers) {
  BootFigure f;
  f.boot_id = boot, f.cell = cell, f.name = name;
  f.samples = static_cast<std::int64_t>(values.succeeded.size());
  f.failed = static_cast<std::int64_t>(values.failed.size());
  const stats::Summary summary = stats::summarize(numbers);
  f.count = static_cast<std::int64_t>(summary.n);
  f.median = summary.median, f.minimum = summary.min, f.maximum = summary.max;
  return f;
}

Result<std::map<std::string, CellValues>> values_of(Connection& connection, RowId boot) {
  BK_ASSIGN(const auto rows,
            connection.query("SELECT s.cell, s.id, s.ok, s.accept_raw, m.name, m.value FROM leg l "
                             "JOIN sample s ON s.leg_id = l.id JOIN sample_metric m ON m.sample_id = s.id "
                             "WHERE l.boot_id = ?1 AND s.warmup = 0",
                             {boot}));
  std::map<std::string, CellValues> cells;
  for (;;) {
    BK_ASSIGN(const bool more, rows->next());
    if (!more) return cells;
    std::string cell, name;
    RowId sample = 0;
    bool ok = false;
    std::optional<double> acceptance, value;
    RowReader v(*rows);
    v("", cell), v("", sample), v("", ok), v("", acceptance), v("", name), v("", value);
    CellValues& values = cells[cell];
    (ok ? values.succeeded : values.failed).insert(sample);
    auto& numbers = values.metrics[name];  // a metric without any value is listed, too
    if (!ok) continue;
    if (value) numbers.push_back(*value);
    if (acceptance) values.acceptance[sample] = *acceptance;
  }
}

Result<std::vector<BootFigure>> figures_where(Connection& connection, const std::string& condition,
                                              const std::vector<Cell>& parameters) {
  BK_ASSIGN(const auto rows, connection.query("SELECT boot_id, cell, name, samples, failed, value_count, median, "
                                              "minimum, maximum FROM boot_figure WHERE " +
                                                  condition + " ORDER BY boot_id, cell, name",
                                              parameters));
  std::vector<BootFigure> out;
  for (;;) {
    BK_ASSIGN(const bool more, rows->next());
    if (!more) return out;
    BootFigure& f = out.emplace_back();
    RowReader v(*rows);
    v("", f.boot_id), v("", f.cell), v("", f.name), v("", f.samples), v("", f.failed), v("", f.count);
    v("", f.median), v("", f.minimum), v("", f.maximum);
  }
}

Result<std::vector<RowId>> ids_of(Connection& connection, const std::string& sql, const std::vector<Cell>& parameters) {
  BK_ASSIGN(const auto rows, connection.query(sql, parameters));
  std::vector<RowId> ids;
  for (;;) {
    BK_ASSIGN(const bool more, rows->next());
    if (!more) return ids;
    RowReader v(*rows);
    v("", ids.emplace_back());
  }
}

}  // namespace

Result<std::vector<BootFigure>> compute_figures(Connection& connection, RowId boot) {
  BK_ASSIGN(auto cells, values_of(connection, boot));
  std::vector<BootFigure> figures;
  for (auto& [cell, values] : cells) {
    auto& acceptance = values.metrics[kAcceptanceFigure];
    for (const auto& entry : values.acceptance) acceptance.push_back(entry.second);
    for (const auto& [name, numbers] : values.metrics) figures.push_back(figure_of(boot, cell, name, values, numbers));
  }
  return figures;
}

Status keep_figures(Connection& connection, RowId boot) {
  BK_TRY(run_statement(connection, "DELETE FROM boot_figure WHERE boot_id = ?1", {boot}));
  BK_ASSIGN(const auto figures, compute_figures(connection, boot));
  for (const BootFigure& f : figures) {
    RowWriter v;
    v("boot_id", f.boot_id), v("cell", f.cell), v("name", f.name), v("samples", f.samples), v("failed", f.failed);
    v("value_count", f.count), v("median", f.median), v("minimum", f.minimum);
    v("maximum", f.maximum);
    BK_TRY(insert_cells(connection, "boot_figure", v, false));
  }
  return {};
}

Status forget_figures(Connection& connection, RowId leg) {
  return run_statement(connection, "DELETE FROM boot_figure WHERE boot_id = (SELECT boot_id FROM leg WHERE id = ?1)",
                       {leg});
}

Result<std::vector<BootFigure>> Database::boot_figures(std::optional<RowId> bracket) {
  const OwnerCondition own = owned_by("bracket_id", bracket);
  BK_ASSIGN(auto out,
            figures_where(*connection_, "boot_id IN (SELECT id FROM boot WHERE " + own.sql + ")", own.parameters));
  // Boots that run, that have no sample, or that an older version wrote.
  BK_ASSIGN(const auto boots, ids_of(*connection_,
                                     "SELECT o.id FROM boot o WHERE o." + own.sql +
                                         " AND NOT EXISTS "
                                         "(SELECT 1 FROM boot_figure f WHERE f.boot_id = o.id) ORDER BY o.id",
                                     own.parameters));
  for (const RowId boot : boots) {
    BK_ASSIGN(auto figures, compute_figures(*connection_, boot));
    out.insert(out.end(), std::make_move_iterator(figures.begin()), std::make_move_iterator(figures.end()));
  }
  return out;
}

Result<std::vector<std::string>> Database::stale_figures() {
  BK_ASSIGN(const auto boots, ids_of(*connection_, "SELECT DISTINCT boot_id FROM boot_figure ORDER BY boot_id", {}));
  std::vector<std::string> stale;
  for (const RowId boot : boots) {
    BK_ASSIGN(const auto fresh, compute_figures(*connection_, boot));
    BK_ASSIGN(const auto kept, figures_where(*connection_, "boot_id = ?1", {boot}));
    if (fresh == kept) continue;
    BK_ASSIGN(const Cell uid, query_cell(*connection_, "SELECT uid FROM boot WHERE id = ?1", {boot}));
    const auto* text = std::get_if<std::string>(&uid);
    stale.push_back(text == nullptr ? std::to_string(boot) : *text);
  }
  return stale;
}

}  // namespace bk::store
