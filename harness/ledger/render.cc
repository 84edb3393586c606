#include "ledger/render.h"

#include <map>
#include <vector>

#include "ledger/baselines.h"
#include "ledger/section.h"
#include "ledger/verdict_tables.h"
#include "report/markdown.h"
#include "stats/historical.h"

namespace bk::ledger {
namespace {

using report::markdown_escape;

/// Notes by the uid of the bracket that they are about; those about anything else under "".
using Notes = std::map<std::string, std::vector<store::NoteRow>>;

Notes by_bracket(const std::vector<store::NoteRow>& notes) {
  Notes out;
  for (const store::NoteRow& note : notes) out[note.subject_kind == "bracket" ? note.subject : ""].push_back(note);
  return out;
}

std::string general_notes(const std::vector<store::NoteRow>& notes) {
  std::string out;
  for (const store::NoteRow& note : notes) {
    const std::string about =
        note.subject.empty() ? "" : markdown_escape(note.subject_kind + " " + note.subject) + ": ";
    out += "- " + about + markdown_escape(note.text) + " (" + markdown_escape(note.author) + ", " +
           date_of(note.created_wall) + ")\n";
  }
  return out.empty() ? "None. `ledger note` adds one.\n" : out;
}

std::string or_none(const std::string& sections) { return sections.empty() ? "None.\n\n" : sections; }

}  // namespace

Result<std::string> render_markdown(store::Database& database) {
  BK_ASSIGN(const auto brackets, database.list_brackets_briefly());
  BK_ASSIGN(const auto all_notes, database.notes());
  Notes notes = by_bracket(all_notes);
  Baselines baselines;
  std::string with_verdict, without_verdict;
  for (const store::BracketSummary& summary : brackets) {
    BK_ASSIGN(const BracketDetail detail, load_detail(database, summary));
    baselines.add(summary.bracket, detail.boots, detail.figures);
    (summary.verdict ? with_verdict : without_verdict) += bracket_section(detail, notes[summary.bracket.uid]);
  }
  BK_ASSIGN(const auto newest, database.newest_calibration());
  BK_ASSIGN(const std::string calibration, calibration_section(newest));
  std::string out =
      "# Measurements\n\n"
      "Rendered from the database by `ledger render`; edits to this file are lost. Assessments are the "
      "tool's, verdicts are people's.\n\n";
  out += fmt::format(
      "The older rule (effect larger than the gap between the bases) is shown with every bracket for continuity. "
      "Boot noise alone makes it call about {:.0f} % of brackets without any effect resolved; it decides nothing "
      "here.\n\n",
      stats::kHistoricalFalseAlarmRate * 100);
  out += "## Baselines\n\n" + baselines.markdown() + "\n" + verdict_tables(brackets);
  out += "\n## Calibration\n\n" + calibration + "\n## Notes\n\n" + general_notes(notes[""]);
  out += "\n## Signed brackets\n\n" + or_none(with_verdict);
  out += "## Unsigned brackets\n\n" + or_none(without_verdict);
  out.pop_back();  // one line end at the end of the file
  return out;
}

}  // namespace bk::ledger
