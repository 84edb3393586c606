#include "page_commands.h"

#include <fmt/ostream.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "bracket/recheck.h"
#include "cli/output.h"
#include "ledger/check.h"
#include "ledger/render.h"
#include "ledger/report_page.h"
#include "ledger/section.h"
#include "store/store.h"

namespace bk::ledger_tool {
namespace {

constexpr const char* kDefaultPage = "MEASUREMENTS.md";

/// Makes every assessment again. Says which cannot be; kMismatch after naming those that are not what the samples say.
Status recheck_assessments(store::Database& database, std::ostream& err) {
  using Finding = bracket::Recheck::Finding;
  BK_ASSIGN(const auto brackets, database.list_brackets_briefly());
  bracket::Rechecker rechecker(database);
  int differing = 0;
  std::map<std::string, std::vector<std::string>> not_judged;  // by why
  for (const store::BracketSummary& brief : brackets) {
    const std::string id = store::short_uid(brief.bracket.uid);
    if (brief.is_outdated()) {
      fmt::print(err, "ledger: note: bracket {} was {}: `bracket verdict` signs again\n", id,
                 ledger::outdated_text(brief));
    }
    BK_ASSIGN(const store::BracketSummary summary, database.bracket_by_id(brief.bracket.id));
    BK_ASSIGN(const bracket::Recheck found, rechecker.check(summary));
    if (found.finding == Finding::kNotJudged) not_judged[found.text].push_back(id);
    if (found.finding != Finding::kDiffers) continue;
    fmt::print(err, "ledger: bracket {}: {}\n", id, found.text);
    ++differing;
  }
  for (const auto& [why, ids] : not_judged) {
    constexpr std::size_t kNamed = 5;
    const std::vector<std::string> named(ids.begin(), ids.begin() + static_cast<int>(std::min(kNamed, ids.size())));
    fmt::print(err, "ledger: note: {} assessment{} not made again: {} ({}{})\n", ids.size(), ids.size() == 1 ? "" : "s",
               why, join(named, ", "), ids.size() > kNamed ? ", …" : "");
  }
  if (differing == 0) return {};
  return fail(Errc::kMismatch,
              fmt::format("{} assessment{} not what the samples say; restore a backup", differing,
                          differing == 1 ? " is" : "s are"),
              database.where());
}

}  // namespace

void RenderCommand::register_on(cli::App& app) {
  flags_.out = kDefaultPage;
  flags_.add_to(app, {cli::Common::kDb, cli::Common::kOut});
}

Result<cli::ExitCode> RenderCommand::run(cli::Streams& streams) {
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, flags_.out));
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db, store::OpenMode::kReadOnly));
  BK_ASSIGN(const std::string page, ledger::render_markdown(database));
  output.stream() << page;
  BK_TRY(output.close());
  if (flags_.out != "-") streams.err << "ledger: wrote " << flags_.out << '\n';
  return cli::ExitCode::kDone;
}

void ReportCommand::register_on(cli::App& app) {
  app.description(
      "Brackets over time, boots with their extremes, acceptance against rate, token timelines, the history of gates, "
      "and every table under its figure. Filters and sorts in the browser; light or dark as the reader's system; needs "
      "no network.");
  app.example("ledger report --html --out report.html", "open it in a browser, print it, send it");
  app.flag("--html", html_, "as HTML, the only form");
  flags_.out = "report.html";
  flags_.add_to(app, {cli::Common::kDb, cli::Common::kOut});
}

Result<cli::ExitCode> ReportCommand::run(cli::Streams& streams) {
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, flags_.out));
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db, store::OpenMode::kReadOnly));
  BK_ASSIGN(const Json data, ledger::report_data(database));
  output.stream() << ledger::report_page(data);
  BK_TRY(output.close());
  if (flags_.out != "-") streams.err << "ledger: wrote " << flags_.out << '\n';
  return cli::ExitCode::kDone;
}

void CheckCommand::register_on(cli::App& app) {
  app.description(
      "Asks the database about its pages and foreign keys, compares the figures that it keeps with the samples, makes "
      "every assessment again from the samples, and compares the page with what would be rendered now. An assessment "
      "by another version of the rule is named; `ledger reassess` makes it again.\n\n"
      "Exit code: 0 when all agree, 1 when the page differs or something is damaged.");
  file_ = kDefaultPage;
  flags_.add_to(app, {cli::Common::kDb});
  app.positional("FILE", file_, "the page; " + std::string(kDefaultPage) + " unless given");
}

Result<cli::ExitCode> CheckCommand::run(cli::Streams& streams) {
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db, store::OpenMode::kReadOnly));
  BK_ASSIGN(const auto problems, database.problems());
  for (const std::string& problem : problems) streams.err << "ledger: " << problem << '\n';
  if (!problems.empty()) {
    return fail(
        Errc::kFailed,
        fmt::format("{} problems in the database; restore a backup, or merge it into a fresh one", problems.size()),
        database.where());
  }
  BK_TRY(recheck_assessments(database, streams.err));
  BK_ASSIGN(const std::string page, ledger::render_markdown(database));
  BK_ASSIGN(const std::string have, read_file(file_));
  BK_TRY(ledger::check_rendering(have, page, file_));
  streams.out << file_ << " is the rendering of " << database.where() << ", which is sound\n";
  return cli::ExitCode::kDone;
}

void NoteCommand::register_on(cli::App& app) {
  app.description("Notes live in the database and stand on every page rendered from it, as plain text.");
  app.example("ledger note 'fans replaced' --by maintainers", "about the ledger as a whole");
  app.example("ledger note 'power cut in boot 3' --by maintainers --bracket 9v0s7pyk", "about one bracket");
  app.positional("TEXT", text_, "the note").required();
  app.option("--by", by_, "who writes it").required().value("NAME").no_default();
  app.option("--bracket", bracket_, "the bracket that it is about: its id or the first characters of it").value("ID");
  app.option("--profile", profile_, "the profile that it is about").value("NAME");
  app.option("--axis", axis_, "the knob that it is about").value("KNOB");
  flags_.add_to(app, {cli::Common::kDb});
}

Result<cli::ExitCode> NoteCommand::run(cli::Streams& streams) {
  if (trim(text_).empty()) return fail(Errc::kUsage, "a note needs a text", "TEXT");
  if (trim(by_).empty()) return fail(Errc::kUsage, "a note needs the name of who writes it", "--by");
  for (const std::string* text : {&text_, &by_}) {
    if (!is_utf8(*text)) return fail(Errc::kUsage, "a note is UTF-8 text", "TEXT, --by");
  }
  if (int{bracket_.has_value()} + int{profile_.has_value()} + int{axis_.has_value()} > 1) {
    return fail(Errc::kUsage, "a note is about one thing: give one of --bracket, --profile, --axis");
  }
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db));
  store::NoteRow note;
  note.subject_kind = "ledger";
  if (bracket_) {
    BK_ASSIGN(const store::BracketSummary summary, database.bracket(*bracket_));
    note.subject_kind = "bracket", note.subject = summary.bracket.uid;
  }
  if (profile_) note.subject_kind = "profile", note.subject = *profile_;
  if (axis_) note.subject_kind = "axis", note.subject = *axis_;
  if (note.subject_kind != "ledger" && trim(note.subject).empty()) {
    return fail(Errc::kUsage, "a note about a " + note.subject_kind + " needs its name");
  }
  note.author = std::string(trim(by_)), note.text = std::string(trim(text_)), note.created_wall = wall_now();
  BK_TRY(database.add_note(note));
  fmt::print(streams.out, "noted about {}{}{}\n", note.subject_kind == "ledger" ? "the ledger" : note.subject_kind,
             note.subject.empty() ? "" : " ", note.subject);
  return cli::ExitCode::kDone;
}

}  // namespace bk::ledger_tool
