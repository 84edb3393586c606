#include "list.h"

#include "cli/output.h"
#include "report/format.h"
#include "store/store.h"
#include "tool/session.h"

namespace bk::bracket_tool {
namespace {

report::Records records_of(const std::vector<store::BracketSummary>& brackets) {
  using report::Align;
  report::Records records;
  records.columns = {{"id", "", "", Align::kLeft},         {"created_at", "", "", Align::kLeft},
                     {"profile", "", "", Align::kLeft},    {"axis", "", "", Align::kLeft},
                     {"state", "", "", Align::kLeft},      {"boots_done", "", "", Align::kRight},
                     {"assessment", "", "", Align::kLeft}, {"reason", "", "", Align::kLeft},
                     {"effect_raw_pct", "raw", "%"},       {"effect_equal_acceptance_pct", "equal acc", "%"},
                     {"gates", "", "", Align::kLeft},      {"verdict", "", "", Align::kLeft}};
  for (const store::BracketSummary& s : brackets) {
    const auto& a = s.assessment;
    const Json gates = s.gates_asked == 0 ? Json() : Json(fmt::format("{}/{}", s.gates_passed, s.gates_asked));
    records.rows.push_back({store::short_uid(s.bracket.uid), format_utc(s.bracket.created_wall), s.bracket.profile,
                            s.bracket.axis, s.bracket.state, s.boots_done, a ? Json(a->state) : Json(),
                            a ? Json(a->reason_code) : Json(), a ? Json(a->effect_raw_pct.value) : Json(),
                            a ? Json(a->effect_equal_acceptance_pct.value) : Json(), gates,
                            s.verdict ? Json(s.verdict->word) : Json()});
  }
  records.meta = tool::output_head("bracket");
  return records;
}

}  // namespace

void ListCommand::register_on(cli::App& app) {
  flags_.add_to(app, {cli::Common::kDb, cli::Common::kFormat, cli::Common::kOut});
}

Result<cli::ExitCode> ListCommand::run(cli::Streams& streams, const cli::Args&) {
  BK_ASSIGN(const report::Format format, report::parse_format(flags_.format));
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db, store::OpenMode::kReadOnly));
  BK_ASSIGN(const auto brackets, database.list_brackets());
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, flags_.out));
  output.stream() << report::render(records_of(brackets), format);
  BK_TRY(output.close());
  return cli::ExitCode::kDone;
}

}  // namespace bk::bracket_tool
