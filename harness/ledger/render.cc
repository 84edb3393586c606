#include "ledger/render.h"

#include <algorithm>
#include <map>
#include <span>
#include <thread>
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

/// What a run of brackets adds to the page.
struct Part {
  Baselines baselines;
  std::string with_verdict, without_verdict;
};

Result<Part> render_part(store::Database& database, std::span<const store::BracketSummary> brackets,
                         const Notes& notes) {
  static const std::vector<store::NoteRow> kNone;
  Part part;
  for (const store::BracketSummary& summary : brackets) {
    BK_ASSIGN(const BracketDetail detail, load_detail(database, summary));
    part.baselines.add(summary.bracket, detail.boots, detail.figures);
    const auto own = notes.find(summary.bracket.uid);
    (summary.verdict ? part.with_verdict : part.without_verdict) +=
        bracket_section(detail, own == notes.end() ? kNone : own->second);
  }
  return part;
}

Result<Part> render_part_alone(const std::string& where, std::span<const store::BracketSummary> brackets,
                               const Notes& notes) {
  BK_ASSIGN(store::Database database, store::Database::open(where, store::OpenMode::kReadOnly));
  return render_part(database, brackets, notes);
}

/// Below it, opening the database again costs more than a thread saves.
constexpr std::size_t kBracketsForAThread = 500;

Result<Part> render_brackets(store::Database& database, std::span<const store::BracketSummary> brackets,
                             const Notes& notes, std::size_t threads) {
  if (threads == 0) {
    threads =
        std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), brackets.size() / kBracketsForAThread);
  }
  if (threads <= 1) return render_part(database, brackets, notes);
  std::vector<Result<Part>> parts(threads);
  std::vector<std::thread> workers;
  const std::size_t share = (brackets.size() + threads - 1) / threads;
  for (std::size_t i = 0; i < threads; ++i) {
    const std::size_t begin = std::min(brackets.size(), i * share);
    const auto own = brackets.subspan(begin, std::min(share, brackets.size() - begin));
    workers.emplace_back([&, i, own] { parts[i] = render_part_alone(database.where(), own, notes); });
  }
  for (std::thread& worker : workers) worker.join();
  Part whole;
  for (Result<Part>& part : parts) {
    if (!part) return fail(part.error());
    whole.baselines.add(part->baselines);
    whole.with_verdict += part->with_verdict;
    whole.without_verdict += part->without_verdict;
    *part = Part();
  }
  return whole;
}

}  // namespace

Result<std::string> render_markdown(store::Database& database, std::size_t threads) {
  BK_ASSIGN(const auto brackets, database.list_brackets_briefly());
  BK_ASSIGN(const auto all_notes, database.notes());
  Notes notes = by_bracket(all_notes);
  BK_ASSIGN(const Part part, render_brackets(database, brackets, notes, threads));
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
  out += "## Baselines\n\n" + part.baselines.markdown() + "\n" + verdict_tables(brackets);
  out += "\n## Calibration\n\n" + calibration + "\n## Notes\n\n" + general_notes(notes[""]);
  out += "\n## Signed brackets\n\n" + or_none(part.with_verdict);
  out += "## Unsigned brackets\n\n" + or_none(part.without_verdict);
  out.pop_back();  // one line end at the end of the file
  return out;
}

}  // namespace bk::ledger
