#include "ledger/boot_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "report/markdown.h"
#include "report/number.h"
#include "stats/summary.h"

namespace bk::ledger {
namespace {

using store::RowId;

/// Metrics that the page shows, in this order, where a cell has them; the primary one comes before all.
const std::vector<std::string>& shown_metrics() {
  static const std::vector<std::string> kShown = {"decode_tok_s", "round_tok_s",   "tpot_ms",
                                                  "ttft_ms",      "prefill_tok_s", "step_s"};
  return kShown;
}

/// What one boot says of one cell.
struct CellValues {
  std::map<std::string, std::vector<double>> metrics;
  std::map<RowId, double> acceptance;  // by sample
  std::set<RowId> samples, failed;
};

using Cells = std::map<std::string, std::map<RowId, CellValues>>;  // by cell, by boot

Cells collect(const std::vector<store::MetricPoint>& points) {
  Cells cells;
  for (const store::MetricPoint& point : points) {
    CellValues& values = cells[point.cell][point.boot_id];
    (point.sample_ok ? values.samples : values.failed).insert(point.sample_id);
    if (!point.sample_ok) continue;
    if (point.value.value) values.metrics[point.metric].push_back(*point.value.value);
    if (point.accept_raw) values.acceptance[point.sample_id] = *point.accept_raw * 100;
  }
  return cells;
}

std::vector<std::string> metrics_of(const std::map<RowId, CellValues>& boots, const std::string& primary) {
  std::vector<std::string> names;
  const auto take = [&](const std::string& name) {
    const bool present =
        std::any_of(boots.begin(), boots.end(), [&](const auto& boot) { return boot.second.metrics.contains(name); });
    if (present && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  take(primary);
  for (const std::string& name : shown_metrics()) take(name);
  return names;
}

std::string acceptance_text(const CellValues& values) {
  std::vector<double> percents;
  for (const auto& entry : values.acceptance) percents.push_back(entry.second);
  return report::fixed(stats::median(percents), 1);
}

std::string samples_text(const CellValues& values) {
  const std::string ok = std::to_string(values.samples.size());
  return values.failed.empty() ? ok : ok + fmt::format(" ({} failed)", values.failed.size());
}

std::string state_text(const store::BootRow& boot) {
  return boot.state == "done" || boot.reason.empty() ? boot.state : boot.state + ": " + boot.reason;
}

std::string table_of(const std::map<RowId, CellValues>& values, const store::BracketRow& bracket,
                     const std::vector<store::BootRow>& boots, const std::map<RowId, std::string>& gates) {
  const std::vector<std::string> metrics = metrics_of(values, bracket.primary_metric);
  std::vector<std::string> header = {"boot", "arm", "state"};
  std::vector<report::Align> align = {report::Align::kRight, report::Align::kLeft, report::Align::kLeft};
  header.insert(header.end(), metrics.begin(), metrics.end());
  for (const char* name : {"samples", "acceptance raw %"}) header.emplace_back(name);
  if (!gates.empty()) header.emplace_back("gates");
  align.resize(header.size(), report::Align::kRight);
  std::vector<std::vector<std::string>> rows;
  static const CellValues kNothing;
  for (const store::BootRow& boot : boots) {
    const auto found = values.find(boot.id);
    const CellValues& cell = found == values.end() ? kNothing : found->second;
    auto& row = rows.emplace_back();
    row = {std::to_string(boot.position + 1), boot.arm, state_text(boot)};
    for (const std::string& name : metrics) {
      const auto metric = cell.metrics.find(name);
      row.push_back(metric == cell.metrics.end() ? report::kMissing : report::number(stats::median(metric->second)));
    }
    row.push_back(samples_text(cell));
    row.push_back(acceptance_text(cell));
    if (gates.empty()) continue;
    const auto gate = gates.find(boot.id);
    row.push_back(gate == gates.end() ? report::kMissing : gate->second);
  }
  return report::markdown_table(header, align, rows);
}

/// "check-quality 9/9 pass" of every boot.
Result<std::map<RowId, std::string>> gate_texts(store::Database& database, const std::vector<store::BootRow>& boots) {
  std::map<RowId, std::string> texts;
  for (const store::BootRow& boot : boots) {
    BK_ASSIGN(const auto legs, database.legs(boot.id));
    for (const store::LegRow& leg : legs) {
      BK_ASSIGN(const auto gates, database.leg_gates(leg.id));
      for (const store::GateRow& gate : gates) {
        std::string& text = texts[boot.id];
        text +=
            (text.empty() ? "" : ", ") + fmt::format("{} {}/{} {}", gate.name, gate.passed, gate.asked, gate.verdict);
      }
    }
  }
  return texts;
}

}  // namespace

Result<std::string> boot_tables(store::Database& database, const store::BracketRow& bracket,
                                const std::vector<store::BootRow>& boots) {
  BK_ASSIGN(const auto points, database.metric_points(bracket.id));
  BK_ASSIGN(const auto gates, gate_texts(database, boots));
  Cells cells = collect(points);
  cells.try_emplace(bracket.primary_cell);
  std::string out = "\nMedians of " + report::markdown_escape(bracket.primary_cell) + " per boot:\n\n" +
                    table_of(cells[bracket.primary_cell], bracket, boots, gates);
  for (const auto& [cell, values] : cells) {
    if (cell == bracket.primary_cell) continue;
    out += "\nMedians of " + report::markdown_escape(cell) + " per boot:\n\n" + table_of(values, bracket, boots, {});
  }
  return out;
}

}  // namespace bk::ledger
