#include "ledger/boot_table.h"

#include <algorithm>
#include <map>
#include <span>

#include "report/markdown.h"
#include "report/number.h"

namespace bk::ledger {
namespace {

using store::BootFigure;
using store::RowId;

using Figures = std::span<const BootFigure>;  // of one cell of one boot
using ByBoot = std::map<RowId, Figures>;

const BootFigure* figure(Figures figures, const std::string& name) {
  const auto it = std::find_if(figures.begin(), figures.end(), [&](const BootFigure& f) { return f.name == name; });
  return it == figures.end() ? nullptr : &*it;
}

std::vector<std::string> metrics_of(const ByBoot& boots, const std::string& primary) {
  std::vector<std::string> names;
  const auto take = [&](const std::string& name) {
    const bool present = std::any_of(boots.begin(), boots.end(), [&](const auto& boot) {
      const BootFigure* f = figure(boot.second, name);
      return f != nullptr && f->count > 0;
    });
    if (present && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  take(primary);
  for (const std::string& name : shown_metrics()) take(name);
  return names;
}

std::string samples_text(const BootFigure* any) {
  if (any == nullptr) return "0";
  const std::string ok = std::to_string(any->samples);
  return any->failed == 0 ? ok : ok + fmt::format(" ({} failed)", any->failed);
}

std::string state_text(const store::BootRow& boot) {
  return boot.state == "done" || boot.reason.empty() ? boot.state : boot.state + ": " + boot.reason;
}

std::string table_of(const ByBoot& values, const store::BracketRow& bracket, const std::vector<store::BootRow>& boots,
                     const std::map<RowId, std::string>& gates) {
  const std::vector<std::string> metrics = metrics_of(values, bracket.primary_metric);
  std::vector<std::string> header = {"boot", "arm", "state"};
  std::vector<report::Align> align = {report::Align::kRight, report::Align::kLeft, report::Align::kLeft};
  header.insert(header.end(), metrics.begin(), metrics.end());
  for (const char* name : {"samples", "acceptance raw %"}) header.emplace_back(name);
  if (!gates.empty()) header.emplace_back("gates");
  align.resize(header.size(), report::Align::kRight);
  std::vector<std::vector<std::string>> rows;
  for (const store::BootRow& boot : boots) {
    const auto found = values.find(boot.id);
    const Figures figures = found == values.end() ? Figures() : found->second;
    auto& row = rows.emplace_back();
    row = {std::to_string(boot.position + 1), boot.arm, state_text(boot)};
    for (const std::string& name : metrics) {
      const BootFigure* f = figure(figures, name);
      row.push_back(f == nullptr ? report::kMissing : report::number(f->median));
    }
    row.push_back(samples_text(figures.empty() ? nullptr : &figures.front()));
    const BootFigure* acceptance = figure(figures, store::kAcceptanceFigure);
    row.push_back(acceptance == nullptr || !acceptance->median ? report::kMissing
                                                               : report::fixed(*acceptance->median * 100, 1));
    if (gates.empty()) continue;
    const auto gate = gates.find(boot.id);
    row.push_back(gate == gates.end() ? report::kMissing : gate->second);
  }
  return report::markdown_table(header, align, rows);
}

/// "check-quality 9/9 pass" of every boot.
std::map<RowId, std::string> gate_texts(const std::vector<std::pair<RowId, store::GateRow>>& gates) {
  std::map<RowId, std::string> texts;
  for (const auto& [boot, gate] : gates) {
    std::string& text = texts[boot];
    text += (text.empty() ? "" : ", ") + fmt::format("{} {}/{} {}", gate.name, gate.passed, gate.asked, gate.verdict);
  }
  return texts;
}

}  // namespace

const std::vector<std::string>& shown_metrics() {
  static const std::vector<std::string> kShown = {"decode_tok_s", "round_tok_s",   "tpot_ms",
                                                  "ttft_ms",      "prefill_tok_s", "step_s"};
  return kShown;
}

std::string boot_tables(const store::BracketRow& bracket, const std::vector<store::BootRow>& boots,
                        const std::vector<BootFigure>& figures,
                        const std::vector<std::pair<RowId, store::GateRow>>& gates) {
  std::map<std::string, ByBoot> cells;
  for (auto run = figures.begin(); run != figures.end();) {
    const auto end = std::find_if(
        run, figures.end(), [&](const BootFigure& f) { return f.boot_id != run->boot_id || f.cell != run->cell; });
    cells[run->cell][run->boot_id] = {run, end};
    run = end;
  }
  std::string out = "\nMedians of " + report::markdown_escape(bracket.primary_cell) + " per boot:\n\n" +
                    table_of(cells[bracket.primary_cell], bracket, boots, gate_texts(gates));
  for (const auto& [cell, values] : cells) {
    if (cell == bracket.primary_cell) continue;
    out += "\nMedians of " + report::markdown_escape(cell) + " per boot:\n\n" + table_of(values, bracket, boots, {});
  }
  return out;
}

}  // namespace bk::ledger
