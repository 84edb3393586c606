#include "ledger/render.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "ledger/asked.h"
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

/// What a run of brackets adds to the page.
struct Part {
  Baselines baselines;
  std::string with_verdict, without_verdict;
};

Result<Part> render_part(store::Database& database, std::span<const store::BracketSummary> brackets, const Notes& notes,
                         const Replaced& replaced) {
  static const std::vector<store::NoteRow> kNone;
  Part part;
  for (const store::BracketSummary& summary : brackets) {
    BK_ASSIGN(const BracketDetail detail, load_detail(database, summary, replaced));
    BK_ASSIGN(const Asked asked, asked_of(database, summary.bracket));
    part.baselines.add(summary.bracket, asked, detail.boots, detail.figures);
    const auto own = notes.find(summary.bracket.uid);
    (summary.verdict ? part.with_verdict : part.without_verdict) +=
        bracket_section(detail, own == notes.end() ? kNone : own->second);
  }
  return part;
}

constexpr std::size_t kHeadings = 100;  // bytes, above the truth

std::size_t size_of(const std::vector<Result<Part>>& parts) {
  std::size_t size = kHeadings;
  for (const Result<Part>& part : parts) size += part->with_verdict.size() + part->without_verdict.size();
  return size;
}

/// The heading and the sections of every part, which the parts then hold no longer: a large page is not held twice.
void append_sections(std::string& out, const char* heading, std::vector<Result<Part>>& parts,
                     std::string Part::*sections) {
  out += heading;
  const std::size_t before = out.size();
  for (Result<Part>& part : parts) out += std::exchange((*part).*sections, {});
  if (out.size() == before) out += "None.\n\n";
}

/// The brackets in runs that threads take one after the other, and what each run became.
struct Work {
  std::span<const store::BracketSummary> brackets;
  const Notes& notes;
  const Replaced& replaced;
  std::vector<Result<Part>> parts;
  std::atomic<std::size_t> next = 0;
};

constexpr std::size_t kRun = 100;  // brackets
/// Below it, opening the database again costs more than a thread saves.
constexpr std::size_t kBracketsForAThread = 500;

void take_runs(store::Database& database, Work& work) {
  for (std::size_t i = work.next++; i < work.parts.size(); i = work.next++) {
    const auto rest = work.brackets.subspan(i * kRun);
    work.parts[i] = render_part(database, rest.first(std::min(kRun, rest.size())), work.notes, work.replaced);
  }
}

Status take_runs_alone(const std::string& where, Work& work) {
  BK_ASSIGN(store::Database database, store::Database::open(where, store::OpenMode::kReadOnly));
  BK_ASSIGN(const store::Snapshot snapshot, database.snapshot());
  take_runs(database, work);
  return {};
}

/// Threads beside the caller's that share the brackets.
class Helpers {
 public:
  Helpers(std::size_t count, const std::string& where, Work& work) : outcomes_(count) {
    for (Status& outcome : outcomes_) {
      threads_.emplace_back([&outcome, &where, &work] { outcome = take_runs_alone(where, work); });
    }
  }
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;
  ~Helpers() { wait(); }
  /// Waits for all of them; what stopped the first that could not work.
  Status join() {
    wait();
    for (const Status& outcome : outcomes_) BK_TRY(outcome);
    return {};
  }

 private:
  void wait() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  std::vector<Status> outcomes_;
  std::vector<std::thread> threads_;
};

std::size_t threads_for(std::size_t brackets) {
  return std::clamp<std::size_t>(brackets / kBracketsForAThread, 1, std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

Result<std::string> render_markdown(store::Database& database, std::size_t threads) {
  BK_ASSIGN(const store::Snapshot snapshot, database.snapshot());
  BK_ASSIGN(const auto brackets, database.list_brackets_briefly());
  BK_ASSIGN(const auto all_notes, database.notes());
  Notes notes = by_bracket(all_notes);
  BK_ASSIGN(const Replaced replaced, load_replaced(database));
  Work work{brackets, notes, replaced, std::vector<Result<Part>>((brackets.size() + kRun - 1) / kRun)};
  Helpers helpers((threads == 0 ? threads_for(brackets.size()) : threads) - 1, database.where(), work);
  const std::string tables = verdict_tables(brackets);
  take_runs(database, work);
  BK_TRY(helpers.join());
  BK_ASSIGN(const auto newest, database.newest_calibration());
  BK_ASSIGN(const std::string calibration, calibration_section(newest));
  BK_ASSIGN(const auto lone_boots, database.boots_briefly({}));
  BK_ASSIGN(const auto lone_asked, asked_of(database, lone_boots));
  BK_ASSIGN(const auto lone_figures, database.boot_figures({}));
  BK_ASSIGN(const auto gates, database.boot_gates({}));
  Baselines baselines;
  baselines.add(lone_asked, lone_boots, lone_figures);
  for (const Result<Part>& part : work.parts) {
    if (!part) return fail(part.error());
    baselines.add(part->baselines);
  }
  std::string out =
      "# Measurements\n\n"
      "Rendered from the database by `ledger render`; edits to this file are lost. Assessments are the "
      "tool's, verdicts are people's.\n\n";
  out += fmt::format(
      "The older rule (effect larger than the gap between the bases) is shown with every bracket for continuity. "
      "Boot noise alone makes it call about {:.0f} % of brackets without any effect resolved; it decides nothing "
      "here.\n\n",
      stats::kHistoricalFalseAlarmRate * 100);
  out += "## Baselines\n\n" + baselines.markdown() + lone_gates(lone_asked, lone_boots, gates) + "\n" + tables;
  out += "\n## Calibration\n\n" + calibration + "\n## Notes\n\n" + general_notes(notes[""]);
  out.reserve(out.size() + size_of(work.parts));
  append_sections(out, "\n## Signed brackets\n\n", work.parts, &Part::with_verdict);
  append_sections(out, "## Unsigned brackets\n\n", work.parts, &Part::without_verdict);
  out.pop_back();  // one line end at the end of the file
  return out;
}

}  // namespace bk::ledger
