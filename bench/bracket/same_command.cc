#include "same_command.h"

#include <algorithm>

#include "bracket/execute.h"
#include "carry_out.h"
#include "cli/format.h"
#include "show.h"

namespace bk::bracket_tool {

void SameCommand::register_on(cli::App& app) {
  if (kind_ == Kind::kBaseline) {
    app.description(
        "Boots one configuration again and again and stores what each boot measured. How these boots differ is what "
        "later brackets of the profile are judged by, beside their own boots: three boots can then answer.");
    app.example("bracket baseline --profile sim --boots 8", "history for the embedded engine");
  } else {
    app.description(
        "A bracket whose arms are the same: what it calls is a false alarm, and says that something on this machine "
        "changes between boots that no knob explains.\n\n"
        "Exit code: 0 when no difference was called, 1 when one was, 5 when the bracket is void.");
    app.example("bracket aa --profile sim --boots 7", "an honest instrument calls nothing");
  }
  flags_.profile = "sim";
  flags_.add_to(app, {cli::Common::kProfile});
  app.option("--set", knobs_, "knobs of every boot; without it the profile's defaults").value("K=V,…").no_default();
  plan_.add_boots(app, kind_ == Kind::kBaseline ? "boots, all alike" : "boots in all, alternating on paper only");
  plan_.add_to(app);
  app.option("--log-dir", log_dir_, "where engine logs go").value("DIR").no_default();
  flags_.add_to(app,
                {cli::Common::kSeed, cli::Common::kDb, cli::Common::kOut, cli::Common::kDryRun, cli::Common::kQuiet});
  cli::add_format(app, flags_, {"table", "json"});
}

Result<cli::ExitCode> SameCommand::run(cli::Streams& streams, const cli::Args& args) {
  BK_ASSIGN(const boot::Profile profile, profile_of(flags_.profile));
  boot::KnobMap knobs;
  if (!knobs_.empty()) {
    BK_ASSIGN(knobs, boot::parse_knobs(knobs_));
  }
  BK_ASSIGN(const bracket::PlanOptions options, plan_.options(flags_.seed, profile));
  auto order = bracket::boot_order(options.boots);
  if (kind_ == Kind::kBaseline) std::fill(order.begin(), order.end(), stats::Arm::kBase);
  BK_ASSIGN(const bracket::Plan plan, bracket::make_same_plan(profile, knobs, order, options));
  if (flags_.dry_run) return dry_run(streams, plan, flags_.db);
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db));
  BK_ASSIGN(const Started started, start(streams, database, plan, "", flags_.quiet));
  BK_ASSIGN(const auto owned, own_bracket(flags_.db, started.uid));
  return carry_out(streams, args, database, profile, plan, started.bracket, started.uid,
                   {flags_.db, flags_.profile, log_dir_, flags_.format, flags_.out, flags_.quiet});
}

}  // namespace bk::bracket_tool
