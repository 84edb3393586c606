#include "ledger/verdict_tables.h"

#include <algorithm>
#include <set>

#include "ledger/section.h"
#include "report/markdown.h"
#include "report/number.h"

namespace bk::ledger {
namespace {

using report::Align;
using store::BracketSummary;

std::string equal_acceptance_text(const BracketSummary& s) {
  return s.assessment ? plain_effect_text(s.assessment->effect_equal_acceptance_pct) : std::string(report::kMissing);
}

std::string metric_text(const store::BracketRow& b) {
  return b.primary_cell.empty() ? b.primary_metric : b.primary_metric + " " + b.primary_cell;
}

std::string reason_text(const BracketSummary& s) {
  const store::VerdictRow& v = *s.verdict;
  std::string text = v.reason;
  if (!v.override_reason.empty()) text += (text.empty() ? "" : "; ") + ("OVERRIDE: " + v.override_reason);
  if (s.is_outdated()) text += (text.empty() ? "" : "; ") + ("TO BE SIGNED AGAIN: " + outdated_text(s));
  return text;
}

/// Brackets whose newest verdict is one of the words; with a column for the word when there are several.
std::string signed_table(const std::vector<BracketSummary>& brackets, const std::vector<std::string>& words) {
  std::vector<std::vector<std::string>> rows;
  const bool several = words.size() > 1;
  for (const BracketSummary& s : brackets) {
    if (!s.verdict || std::find(words.begin(), words.end(), s.verdict->word) == words.end()) continue;
    auto& row = rows.emplace_back();
    row = {store::short_uid(s.bracket.uid), date_of(s.bracket.created_wall), s.bracket.profile, s.bracket.axis,
           metric_text(s.bracket)};
    if (several) row.push_back(s.verdict->word);
    const std::string cells[] = {measured_effect_text(s), equal_acceptance_text(s), gates_text(s),
                                 reason_text(s),          s.verdict->signed_by,     date_of(s.verdict->created_wall)};
    row.insert(row.end(), std::begin(cells), std::end(cells));
  }
  if (rows.empty()) return "None.\n";
  const Align l = Align::kLeft, r = Align::kRight;
  std::vector<std::string> header = {"id", "measured", "profile", "axis", "metric"};
  std::vector<Align> align = {l, l, l, l, l};
  if (several) header.emplace_back("verdict"), align.push_back(l);
  for (const char* name : {"effect, raw", "at equal acceptance", "gates passed"}) {
    header.emplace_back(name);
    align.push_back(r);
  }
  for (const char* name : {"reason", "signed by", "signed"}) header.emplace_back(name), align.push_back(l);
  return report::markdown_table(header, align, rows);
}

/// Matrices and sweeps: their comparisons are what is signed.
std::set<store::RowId> families(const std::vector<BracketSummary>& brackets) {
  std::set<store::RowId> ids;
  for (const BracketSummary& s : brackets) {
    if (s.bracket.family_id) ids.insert(*s.bracket.family_id);
  }
  return ids;
}

/// What waits: deferred verdicts and brackets that nobody has signed.
std::string open_table(const std::vector<BracketSummary>& brackets) {
  std::vector<std::vector<std::string>> rows;
  const std::set<store::RowId> wholes = families(brackets);
  for (const BracketSummary& s : brackets) {
    if (wholes.contains(s.bracket.id)) continue;
    if (s.verdict ? s.verdict->word != "deferred" : is_baseline(s.bracket)) continue;
    const std::string needed =
        s.assessment && s.assessment->boots_needed ? std::to_string(*s.assessment->boots_needed) : report::kMissing;
    const std::string why = s.verdict ? reason_text(s) : s.bracket.state == "done" ? "not signed" : s.bracket.state;
    rows.push_back({store::short_uid(s.bracket.uid), date_of(s.bracket.created_wall), s.bracket.profile, s.bracket.axis,
                    metric_text(s.bracket), measured_effect_text(s), equal_acceptance_text(s), assessment_text(s),
                    gates_text(s), needed, verdict_text(s), why});
  }
  if (rows.empty()) return "None.\n";
  const Align l = Align::kLeft, r = Align::kRight;
  return report::markdown_table({"id", "measured", "profile", "axis", "metric", "effect, raw", "at equal acceptance",
                                 "assessment", "gates passed", "boots to decide", "verdict", "why open"},
                                {l, l, l, l, l, r, r, l, r, r, l, l}, rows);
}

std::string cell_text(const Json& value) {
  if (value.is_null()) return report::kMissing;
  if (auto text = value.as_string()) return std::move(*text);
  if (const auto whole = value.as_int()) return std::to_string(*whole);
  return report::number(value.as_double());
}

std::string figures_table(const Json& result) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [key, value] : result.members()) {
    const bool is_figure = value.as_double().has_value() && key != "schema_version" && key != "brackets_per_cell";
    if (is_figure) rows.push_back({key, cell_text(value)});
  }
  return report::markdown_table({"figure", "percent"}, {Align::kLeft, Align::kRight}, rows);
}

std::string cells_table(const Json& cells) {
  if (cells.items().empty()) return {};
  std::vector<std::string> header;
  std::vector<Align> align;
  for (const auto& [key, value] : cells.items().front().members()) {
    header.push_back(key);
    align.push_back(value.as_string() ? Align::kLeft : Align::kRight);
  }
  std::vector<std::vector<std::string>> rows;
  for (const Json& cell : cells.items()) {
    auto& row = rows.emplace_back();
    for (const std::string& key : header) row.push_back(cell_text(cell[key]));
  }
  return "\n" + report::markdown_table(header, align, rows);
}

}  // namespace

std::string verdict_tables(const std::vector<BracketSummary>& brackets) {
  std::string out = "## Adopted\n\n" + signed_table(brackets, {"adopted"});
  out += "\n## Rejected: not to be proposed again\n\n" + signed_table(brackets, {"rejected"});
  out += "\n## Neutral and invalid\n\n" + signed_table(brackets, {"neutral", "invalid"});
  out += "\n## Unavailable\n\n" + signed_table(brackets, {"unavailable"});
  return out + "\n## Open axes\n\n" + open_table(brackets);
}

Result<std::string> calibration_section(const std::optional<store::CalibrationRow>& calibration) {
  if (!calibration) {
    return std::string(
        "Not in this database. `bracket calibrate --json --out FILE.json` measures how often the rule is "
        "wrong, and `ledger import FILE.json` puts it here.\n");
  }
  BK_ASSIGN(const Json result, parse_json(calibration->result_json));
  const std::string version = calibration->tool_version.empty() ? "" : " by version " + calibration->tool_version;
  return "How often the rule is wrong, in brackets that were simulated with a known truth: " +
         report::markdown_escape(cell_text(result["brackets_per_cell"])) + " in each cell, seed " +
         report::markdown_escape(cell_text(result["seed"])) + ", measured" + report::markdown_escape(version) +
         ".\n\n" + figures_table(result) + cells_table(result["rows"]);
}

}  // namespace bk::ledger
