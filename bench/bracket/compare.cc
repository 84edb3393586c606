#include "compare.h"

#include <fmt/ostream.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "cli/output.h"
#include "judged_text.h"
#include "report/format.h"
#include "scale.h"
#include "store/store.h"
#include "tool/session.h"

namespace bk::bracket_tool {
namespace {

using store::BracketSummary;

/// What the assessment rests on, as it was stored; the raw effect for brackets that were recorded without a basis.
struct Judged {
  std::string basis = "raw";
  store::EffectRow effect;
};

Judged judged_of(const BracketSummary& s) {
  Judged j;
  if (!s.assessment) return j;
  const auto detail = parse_json(s.assessment->detail_json.empty() ? "{}" : s.assessment->detail_json);
  if (detail && (*detail)["assessment"]["basis"].as_string() == "equal_acceptance") j.basis = "equal_acceptance";
  j.effect = j.basis == "raw" ? s.assessment->effect_raw_pct : s.assessment->effect_equal_acceptance_pct;
  return j;
}

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

report::Records records_of(const std::vector<BracketSummary>& brackets) {
  using report::Align;
  const Align l = Align::kLeft;
  report::Records records;
  records.columns = {{"id", "", "", l},
                     {"profile", "", "", l},
                     {"axis", "", "", l},
                     {"metric", "", "", l},
                     {"boots_done", "boots", ""},
                     {"basis", "", "", l},
                     {"effect_pct", "effect", "%"},
                     {"low_pct", "low", "%"},
                     {"high_pct", "high", "%"},
                     {"effect_on_acceptance_points", "acceptance", "pt"},
                     {"assessment", "", "", l},
                     {"reason", "", "", l},
                     {"verdict", "", "", l}};
  for (const BracketSummary& s : brackets) {
    const Judged j = judged_of(s);
    records.rows.push_back({store::short_uid(s.bracket.uid), s.bracket.profile, s.bracket.axis,
                            s.bracket.primary_metric + " " + s.bracket.primary_cell, s.boots_done,
                            s.assessment ? Json(j.basis) : Json(), j.effect.value, j.effect.lo, j.effect.hi,
                            s.assessment ? Json(s.assessment->effect_on_acceptance_points.value) : Json(),
                            s.assessment ? or_null(s.assessment->state) : Json(s.bracket.state),
                            s.assessment ? or_null(s.assessment->reason_code) : Json(),
                            s.verdict ? Json(s.verdict->word) : Json()});
  }
  records.meta = tool::output_head("bracket compare");
  return records;
}

/// Every interval on one scale, in the order of the table.
void print_bars(std::ostream& out, const std::vector<BracketSummary>& brackets) {
  double reach = 0;
  for (const BracketSummary& s : brackets) {
    const store::EffectRow e = judged_of(s).effect;
    reach = std::max({reach, std::fabs(e.lo.value_or(0)), std::fabs(e.hi.value_or(0))});
  }
  if (!(reach > 0)) return;
  out << '\n';
  print_line(out, "scale", scale_line(reach));
  for (const BracketSummary& s : brackets) {
    const store::EffectRow e = judged_of(s).effect;
    const std::string id = "  " + store::short_uid(s.bracket.uid);
    print_line(out, id, e.value && e.lo && e.hi ? bar(*e.lo, *e.value, *e.hi, reach) : "no interval");
  }
}

/// Why figures of these brackets should not be read against one another.
std::vector<std::string> cautions(const std::vector<BracketSummary>& brackets) {
  std::vector<std::string> out;
  const auto differs = [&](auto member) {
    return std::any_of(brackets.begin(), brackets.end(),
                       [&](const auto& s) { return member(s.bracket) != member(brackets.front().bracket); });
  };
  if (differs([](const auto& b) { return b.primary_metric + b.primary_cell; })) {
    out.emplace_back("the brackets were judged by different metrics");
  }
  if (differs([](const auto& b) { return b.profile; })) out.emplace_back("the brackets are of different profiles");
  return out;
}

}  // namespace

void CompareCommand::register_on(cli::App& app) {
  app.description(
      "Puts brackets side by side: what each changed, the effect that its assessment rests on, and all intervals on "
      "one "
      "scale. Nothing is judged anew.");
  app.example("bracket compare 9v0s7pyk xd6fxzbj", "two brackets");
  app.positional("ID", ids_, "brackets: their ids or the first characters of them").required();
  flags_.add_to(app, {cli::Common::kDb, cli::Common::kFormat, cli::Common::kOut});
}

Result<cli::ExitCode> CompareCommand::run(cli::Streams& streams, const cli::Args&) {
  BK_ASSIGN(const report::Format format, report::parse_format(flags_.format));
  if (ids_.size() < 2) return fail(Errc::kUsage, "compare needs two brackets or more", join(ids_, " "));
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db, store::OpenMode::kReadOnly));
  std::vector<BracketSummary> brackets;
  for (const std::string& id : ids_) {
    BK_ASSIGN(BracketSummary summary, database.bracket(id));
    brackets.push_back(std::move(summary));
  }
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, flags_.out));
  report::Records records = records_of(brackets);
  const std::vector<std::string> notes = cautions(brackets);
  records.meta.set("notes", notes);
  output.stream() << report::render(records, format);
  if (format == report::Format::kTable) {
    print_bars(output.stream(), brackets);
    for (const std::string& note : notes) fmt::print(output.stream(), "note: {}\n", note);
  }
  BK_TRY(output.close());
  return cli::ExitCode::kDone;
}

}  // namespace bk::bracket_tool
