#include "reassess_command.h"

#include <fmt/ostream.h>

#include <map>

#include "base/text.h"
#include "bracket/reassess.h"
#include "report/number.h"
#include "stats/assess.h"

namespace bk::ledger_tool {
namespace {

/// "better, +8.17 % [+7.28, +9.06]": by the effect that was judged.
std::string said(const store::AssessmentRow& a) {
  const bool equal = a.effect_equal_acceptance_pct.value && a.reason.find("equal acceptance") != std::string::npos;
  const store::EffectRow& e = equal ? a.effect_equal_acceptance_pct : a.effect_raw_pct;
  return a.state + (e.value ? ", " + report::percent_interval(e.value, e.lo, e.hi) : "");
}

/// What came of all of them.
struct Tally {
  int made = 0, changed = 0, outdated = 0;
  std::map<std::string, int> stayed;  ///< by why
};

void count(const bracket::Reassessed& done, Tally& tally) {
  if (!done.now) {
    ++tally.stayed[done.why_not];
    return;
  }
  ++tally.made;
  tally.changed += done.now->state != done.before.assessment->state ? 1 : 0;
  tally.outdated += done.is_outdated() ? 1 : 0;
}

void print(std::ostream& out, const bracket::Reassessed& done) {
  const store::BracketRow& b = done.before.bracket;
  std::string line =
      fmt::format("{} {} ({}): {}", store::short_uid(b.uid), b.axis, b.profile, said(*done.before.assessment));
  line += done.now ? " -> " + said(*done.now) : " stays: " + done.why_not;
  if (done.before.verdict) line += "; signed " + done.before.verdict->word;
  if (done.is_outdated()) line += fmt::format(" when it was {}: TO BE SIGNED AGAIN", done.before.signed_state);
  out << line << '\n';
}

}  // namespace

void ReassessCommand::register_on(cli::App& app) {
  app.description(
      "An assessment names the version of the rule that made it. Those of an older one are made again from the stored "
      "plan, the samples and the earlier boots that they name; the newest counts, and the older one stays and is "
      "shown. Verdicts are people's and stay as they were signed: where the state is another one now, the ledger says "
      "so until somebody signs again.\n\n"
      "Exit code: 0 when no signed bracket changed its state, 1 when one did.");
  app.example("ledger reassess --dry-run", "what would be said now, nothing stored");
  app.example("ledger reassess",
              "then `ledger export --signed` and `ledger render`, for a ledger under version control");
  flags_.add_to(app, {cli::Common::kDb, cli::Common::kDryRun});
}

Result<cli::ExitCode> ReassessCommand::run(cli::Streams& streams) {
  const auto mode = flags_.dry_run ? store::OpenMode::kReadOnly : store::OpenMode::kReadWrite;
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db, mode));
  Tally tally;
  BK_TRY(bracket::reassess(database, !flags_.dry_run, [&](const bracket::Reassessed& done) {
    count(done, tally);
    print(streams.out, done);
  }));
  fmt::print(streams.out, "{} assessments {} by rule version {}, {} with another state than before\n", tally.made,
             flags_.dry_run ? "would be made again" : "made again", stats::kRuleVersion, tally.changed);
  for (const auto& [why, n] : tally.stayed) fmt::print(streams.err, "ledger: note: {} stay: {}\n", n, why);
  if (tally.outdated == 0) return cli::ExitCode::kDone;
  fmt::print(streams.err, "ledger: {} signed when the assessment said another state: `bracket verdict` signs again\n",
             tally.outdated);
  return cli::ExitCode::kFailed;
}

}  // namespace bk::ledger_tool
