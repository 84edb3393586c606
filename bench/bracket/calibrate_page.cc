#include "calibrate_page.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "base/text.h"
#include "report/markdown.h"
#include "report/number.h"

namespace bk::bracket_tool {
namespace {

using report::Align;

std::string figures_table(const bracket::CalibrationFigures& figures) {
  std::vector<std::vector<std::string>> rows;
  for (const bracket::Bound& b : bracket::bounds_of(figures)) {
    const std::string bound =
        b.at_least ? fmt::format("at least {:g}", *b.at_least) : fmt::format("at most {:g}", b.at_most.value_or(0));
    rows.push_back({b.name, report::fixed(b.value, 2), bound});
  }
  rows.push_back({"ledger_rule_false_alarm", report::fixed(figures.ledger_rule_false_alarm, 2), "-"});
  return report::markdown_table({"figure", "measured [%]", "bound [%]"}, {Align::kLeft, Align::kRight, Align::kRight},
                                rows);
}

/// A column of a table of cells: its heading, and the member of a cell that it shows.
struct Shown {
  const char *heading, *member;
};

std::string cells_table(const Json& cells, bracket::Purpose purpose, const std::vector<Shown>& shown) {
  std::vector<std::vector<std::string>> rows;
  for (const Json& cell : cells.items()) {
    if (cell["purpose"].as_string() != to_string(purpose)) continue;
    auto& row = rows.emplace_back();
    row.push_back(cell["cell"].as_string().value_or(""));
    for (const Shown& column : shown) row.push_back(report::fixed(cell[column.member].as_double(), 2));
  }
  if (rows.empty()) return {};
  std::vector<std::string> header{"cell"};
  std::vector<Align> align{Align::kLeft};
  for (const Shown& column : shown) header.emplace_back(column.heading), align.push_back(Align::kRight);
  return report::markdown_table(header, align, rows);
}

bool is_calibration(const Json& json) { return json["tool"].as_string() == "bracket calibrate"; }

}  // namespace

bracket::CalibrationFigures figures_in(const Json& result) {
  const auto figure = [&](const char* name) { return result[name].as_double(); };
  bracket::CalibrationFigures f;
  f.false_alarm_max = figure("false_alarm_max"), f.false_alarm_step_max = figure("false_alarm_step_max");
  f.false_alarm_step_aba_max = figure("false_alarm_step_aba_max");
  f.coverage_min = figure("coverage_min"), f.coverage_max = figure("coverage_max");
  f.power_aba_3_5 = figure("power_aba_3_5"), f.power_aba_1_5 = figure("power_aba_1_5");
  f.power_abba12_3_5 = figure("power_abba12_3_5");
  f.power_abba12_3_5_significant = figure("power_abba12_3_5_significant");
  f.ledger_rule_false_alarm = figure("ledger_rule_false_alarm");
  f.family_false_alarm_max = figure("family_false_alarm_max");
  f.peak_coverage_min = figure("peak_coverage_min"), f.best_kept_min = figure("best_kept_min");
  return f;
}

Result<Json> calibration_in(std::string_view text) {
  if (const auto whole = parse_json(text); whole && is_calibration(*whole)) return *whole;
  std::optional<Json> last;
  for (const std::string_view line : split_lines(text)) {
    const auto row = parse_json(line);
    if (!row || (*row)["table"].as_string() != "calibration") continue;
    auto result = parse_json((*row)["result_json"].as_string().value_or(""));
    if (result && is_calibration(*result)) last = std::move(*result);
  }
  if (!last) return fail(Errc::kParse, "no calibration in it; `bracket calibrate --json --out FILE` writes one");
  return *last;
}

std::string calibration_page(const Json& result) {
  std::string page = fmt::format(
      "# Calibration\n\n"
      "Rendered by `bracket calibrate --from measurements/general.jsonl --format md --out docs/calibration.md`; edits "
      "are lost. {} simulated brackets in "
      "each cell, seed {}, nominal 5 %. Boots are normal on the log scale; sd is their deviation in percent. drift3: "
      "3 % from the first boot to the last. luck: raw acceptance of each sample between 25 and 37 %. stalls: one "
      "request in a hundred takes more than three times as long. unequal: 3 to 9 samples a boot instead of 6. step3: "
      "one step of 3 % between two boots. history12: 12 earlier base boots. sweep5: four values against one base, "
      "matrix2x2: two knobs alone and together; each in two rounds.\n\n",
      result["brackets_per_cell"].as_int().value_or(0), result["seed"].as_string().value_or(""));
  page += figures_table(figures_in(result));
  page +=
      "\nCoverage is that of plans with one look; the others choose when to stop. Plans judged by history take a drift "
      "beyond it for a possible step and call less. All numbers below are percent.\n\n";
  const std::vector<Shown> single{{"p < alpha", "significant_pct"},
                                  {"better or worse", "called_pct"},
                                  {"better", "better_pct"},
                                  {"coverage", "coverage_pct"}};
  const std::pair<bracket::Purpose, const char*> sections[] = {
      {bracket::Purpose::kFalseAlarm, "Nothing differs: p < alpha is a false alarm"},
      {bracket::Purpose::kStep, "Nothing differs, and the machine takes one step"},
      {bracket::Purpose::kPower, "A real effect of the named percent"},
      {bracket::Purpose::kNaive, "Nothing differs, judged by other rules"}};
  for (const auto& [purpose, title] : sections) {
    const std::string table = cells_table(result["rows"], purpose, single);
    if (!table.empty()) page += fmt::format("## {}\n\n{}\n", title, table);
  }
  const std::string families = cells_table(result["rows"], bracket::Purpose::kFamily,
                                           {{"any false alarm", "significant_pct"},
                                            {"better or worse", "called_pct"},
                                            {"better", "better_pct"},
                                            {"peak's interval holds", "coverage_pct"},
                                            {"true peak kept", "best_kept_pct"}});
  if (!families.empty()) {
    page += "## Matrices and sweeps, all their questions together\n\n" + families;
    page +=
        "\nA false alarm is one question or more without an effect that was called; peak and flat_top have effects. "
        "The "
        "peak's interval is that of the value picked as best; the true peak is kept when it is among the values that "
        "are not told from the best.\n\n";
  }
  page.pop_back();
  return page;
}

}  // namespace bk::bracket_tool
