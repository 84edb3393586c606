#include "calibrate_page.h"

#include <fmt/format.h>

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

std::string cells_table(const std::vector<bracket::CellResult>& results, bracket::Purpose purpose) {
  std::vector<std::vector<std::string>> rows;
  for (const bracket::CellResult& r : results) {
    if (r.cell.purpose != purpose || r.brackets == 0) continue;
    const bool rule = r.cell.judge == bracket::Judge::kRule;
    const auto only = [&](double value) { return report::fixed(rule ? std::optional(value) : std::nullopt, 2); };
    rows.push_back({r.cell.name, report::fixed(r.significant_pct(), 2), only(r.called_pct()), only(r.better_pct()),
                    report::fixed(r.coverage_pct(), 2)});
  }
  if (rows.empty()) return {};
  const Align right = Align::kRight;
  return report::markdown_table({"cell", "p < alpha", "better or worse", "better", "coverage"},
                                {Align::kLeft, right, right, right, right}, rows);
}

}  // namespace

std::string calibration_page(const std::vector<bracket::CellResult>& results,
                             const bracket::CalibrationFigures& figures, std::uint64_t seed, int brackets) {
  std::string page = fmt::format(
      "# Calibration\n\n"
      "Rendered by `bracket calibrate --format md --out docs/calibration.md`; edits are lost. {} simulated brackets in "
      "each cell, seed {}, nominal 5 %. Boots are normal on the log scale; sd is their deviation in percent. drift3: "
      "3 % from the first boot to the last. luck: raw acceptance of each sample between 25 and 37 %. stalls: one "
      "request in a hundred takes more than three times as long. unequal: 3 to 9 samples a boot instead of 6. step3: "
      "one step of "
      "3 % between two boots. history12: 12 earlier base boots.\n\n",
      brackets, seed);
  page += figures_table(figures);
  page +=
      "\nCoverage is that of plans with one look; the others choose when to stop. Plans judged by history take a drift "
      "beyond it for a possible step and call less. All numbers below are percent.\n\n";
  const std::pair<bracket::Purpose, const char*> sections[] = {
      {bracket::Purpose::kFalseAlarm, "Nothing differs: p < alpha is a false alarm"},
      {bracket::Purpose::kStep, "Nothing differs, and the machine takes one step"},
      {bracket::Purpose::kPower, "A real effect of the named percent"},
      {bracket::Purpose::kNaive, "Nothing differs, judged by other rules"}};
  for (const auto& [purpose, title] : sections) {
    const std::string table = cells_table(results, purpose);
    if (!table.empty()) page += fmt::format("## {}\n\n{}\n", title, table);
  }
  page.pop_back();
  return page;
}

}  // namespace bk::bracket_tool
