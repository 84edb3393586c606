#include "ledger/render.h"

#include <vector>

#include "ledger/section.h"
#include "report/markdown.h"
#include "report/number.h"
#include "stats/historical.h"

namespace bk::ledger {
namespace {

using report::Align;
using report::markdown_escape;
using store::BracketSummary;

std::string summary_table(const std::vector<BracketSummary>& brackets) {
  if (brackets.empty()) return "No bracket has been measured yet.\n";
  std::vector<std::vector<std::string>> rows;
  for (const BracketSummary& s : brackets) {
    const auto effect = [&](const store::EffectRow& e) {
      return e.value ? report::percent_interval(e.value, e.lo, e.hi)
                     : std::string(report::kMissing) + (e.reason.empty() ? "" : " (" + e.reason + ")");
    };
    rows.push_back({store::short_uid(s.bracket.uid), date_of(s.bracket.created_wall), s.bracket.profile, s.bracket.axis,
                    s.assessment ? effect(s.assessment->effect_raw_pct) : report::kMissing,
                    s.assessment ? effect(s.assessment->effect_equal_acceptance_pct) : report::kMissing,
                    s.assessment ? report::percent(s.assessment->drift_pct) : report::kMissing, assessment_text(s),
                    gates_text(s), verdict_text(s)});
  }
  const Align l = Align::kLeft;
  const Align r = Align::kRight;
  return report::markdown_table({"id", "date", "profile", "axis", "effect, raw", "effect at equal acceptance", "drift",
                                 "assessment", "gates passed", "verdict"},
                                {l, l, l, l, r, r, r, l, r, l}, rows);
}

std::string rejected_table(const std::vector<BracketSummary>& brackets) {
  std::vector<std::vector<std::string>> rows;
  for (const BracketSummary& s : brackets) {
    if (!s.verdict || s.verdict->word != "rejected") continue;
    const std::optional<double> effect = s.assessment ? s.assessment->effect_raw_pct.value : std::nullopt;
    rows.push_back({s.bracket.profile, s.bracket.axis, report::percent(effect), s.verdict->reason, s.verdict->signed_by,
                    date_of(s.verdict->created_wall), store::short_uid(s.bracket.uid)});
  }
  if (rows.empty()) return "None.\n";
  const Align l = Align::kLeft;
  return report::markdown_table({"profile", "axis", "effect, raw", "reason", "signed by", "date", "id"},
                                {l, l, Align::kRight, l, l, l, l}, rows);
}

std::string general_notes(const std::vector<store::NoteRow>& notes) {
  std::string out;
  for (const store::NoteRow& note : notes) {
    if (note.subject_kind == "bracket") continue;
    const std::string about =
        note.subject.empty() ? "" : markdown_escape(note.subject_kind + " " + note.subject) + ": ";
    out += "- " + about + markdown_escape(note.text) + " (" + markdown_escape(note.author) + ", " +
           date_of(note.created_wall) + ")\n";
  }
  return out.empty() ? out : "## Notes\n\n" + out + "\n";
}

/// The sections of the brackets that are (not) signed.
Result<std::string> sections(store::Database& database, const std::vector<BracketSummary>& brackets,
                             const std::vector<store::NoteRow>& notes, bool is_signed) {
  std::string out;
  for (const BracketSummary& summary : brackets) {
    if (summary.verdict.has_value() != is_signed) continue;
    BK_ASSIGN(const std::string section, bracket_section(database, summary, notes));
    out += section;
  }
  return out.empty() ? std::string("None.\n\n") : out;
}

}  // namespace

Result<std::string> render_markdown(store::Database& database) {
  BK_ASSIGN(const auto brackets, database.list_brackets());
  BK_ASSIGN(const auto notes, database.notes());
  std::string out =
      "# Measurements\n\n"
      "Rendered from the database by `ledger render`; edits to this file are lost. Assessments are the "
      "tool's, verdicts are people's.\n\n## Summary\n\n";
  out += summary_table(brackets);
  out += fmt::format(
      "\nThe older rule (effect larger than the gap between the bases) is shown with every bracket for continuity. "
      "Boot "
      "noise alone makes it call about {:.0f} % of brackets without any effect resolved; it decides nothing here.\n\n",
      stats::kHistoricalFalseAlarmRate * 100);
  out += general_notes(notes);
  out += "## Rejected axes: not to be proposed again\n\n" + rejected_table(brackets) + "\n";
  BK_ASSIGN(const std::string with_verdict, sections(database, brackets, notes, true));
  BK_ASSIGN(const std::string without_verdict, sections(database, brackets, notes, false));
  out += "## Signed brackets\n\n" + with_verdict + "## Unsigned brackets\n\n" + without_verdict;
  out.pop_back();  // one line end at the end of the file
  return out;
}

}  // namespace bk::ledger
