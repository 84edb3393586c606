#include "run_command.h"

#include <fmt/ostream.h>

#include "base/text.h"
#include "bracket/execute.h"
#include "bracket/stored_plan.h"
#include "cli/format.h"
#include "family_command.h"
#include "show.h"

namespace bk::bracket_tool {
void RunCommand::register_on(cli::App& app) {
  app.description(
      "Boots base, candidate, base … of one profile with exactly one knob differing, measures decode speed and runs a "
      "quality gate in each boot, stores every sample as it arrives, and judges.\n\n"
      "Exit code: 0 when the bracket completed whatever it found, 5 when it is void, 3 when an engine could not be "
      "booted, 130 when interrupted (`bracket resume` goes on).");
  app.example("bracket run --base GATEFUSE=0 --cand GATEFUSE=1 --boots 5", "the embedded engine, five boots");
  app.example("bracket run --base GATEFUSE=0 --cand GATEFUSE=1 --boots 5 --until-resolved --max-boots 13",
              "as many boots as the answer takes");
  app.example("bracket run --profile llama-cpp --base SPEC=none --cand SPEC=ngram", "a real engine");
  app.section("PLAN");
  app.option("--base", base_, "knobs of the base arm").required().value("K=V,…").no_default();
  app.option("--cand", cand_, "knobs of the candidate: the same ones, one with another value")
      .required()
      .value("K=V,…")
      .no_default();
  flags_.profile = "sim";
  flags_.add_to(app, {cli::Common::kProfile});
  plan_.add_boots(app, "boots in all, alternating from base");
  app.flag(
      "--until-resolved", until_resolved_,
      "look after --boots boots and after every two more, and end when the answer is there; the looks share alpha");
  app.option("--max-boots", max_boots_, "with --until-resolved: boots at most").range(5, 199).value("N");
  plan_.add_to(app);
  app.option("--reopen", reopen_, "why a rejected axis is measured again").value("WHY").no_default();
  app.section("OUTPUT");
  app.option("--log-dir", log_dir_, "where engine logs go").value("DIR").no_default();
  flags_.add_to(app,
                {cli::Common::kSeed, cli::Common::kDb, cli::Common::kOut, cli::Common::kDryRun, cli::Common::kQuiet});
  cli::add_format(app, flags_, {"table", "json"});
}

Result<cli::ExitCode> RunCommand::run(cli::Streams& streams, const cli::Args& args) {
  BK_ASSIGN(const boot::Profile profile, profile_of(flags_.profile));
  BK_ASSIGN(const boot::KnobMap base, boot::parse_knobs(base_));
  BK_ASSIGN(const boot::KnobMap cand, boot::parse_knobs(cand_));
  BK_ASSIGN(bracket::PlanOptions options, plan_.options(flags_.seed, profile));
  if (until_resolved_) {
    BK_ASSIGN(options.looks, bracket::looks_between(options.boots, max_boots_));
    options.boots = max_boots_;
  }
  BK_ASSIGN(const bracket::Plan plan, bracket::make_plan(profile, base, cand, options));
  if (flags_.dry_run) return dry_run(streams, plan, flags_.db);
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db));
  BK_TRY(guard_rejected(database, plan, reopen_));
  BK_ASSIGN(const Started started, start(streams, database, plan, std::string(trim(reopen_)), flags_.quiet));
  BK_ASSIGN(const auto owned, own_bracket(flags_.db, started.uid));
  return carry_out(streams, args, database, profile, plan, started.bracket, started.uid,
                   {flags_.db, flags_.profile, log_dir_, flags_.format, flags_.out, flags_.quiet});
}

void ResumeCommand::register_on(cli::App& app) {
  app.description(
      "Runs the boots of a stored plan that are not done. Refuses when the profile or a knob is no longer what "
      "was planned, and says what changed.");
  app.positional("ID", id_, "the bracket: its id or the first characters of it").required();
  app.option("--log-dir", log_dir_, "where engine logs go").value("DIR").no_default();
  flags_.add_to(app, {cli::Common::kProfile, cli::Common::kDb, cli::Common::kOut, cli::Common::kQuiet});
  cli::add_format(app, flags_, {"table", "json"});
}

Result<cli::ExitCode> ResumeCommand::run(cli::Streams& streams, const cli::Args& args) {
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db));
  BK_ASSIGN(store::BracketSummary named, database.bracket(id_));
  if (named.bracket.family_id) {  // one comparison has no boots to itself: its family goes on
    BK_ASSIGN(const std::string family, database.bracket_uid(*named.bracket.family_id));
    BK_ASSIGN(named, database.bracket(family));
  }
  BK_ASSIGN(const auto owned, own_bracket(flags_.db, named.bracket.uid));
  BK_ASSIGN(const store::BracketSummary summary, database.bracket(named.bracket.uid));
  BK_ASSIGN(const boot::Profile profile, profile_of(flags_.profile.empty() ? summary.bracket.profile : flags_.profile));
  BK_ASSIGN(const bracket::Plan plan, bracket::resumable_plan(database, summary.bracket, profile));
  const CarryOut how{flags_.db, flags_.profile, log_dir_, flags_.format, flags_.out, flags_.quiet};
  if (bracket::is_family(plan)) return resume_family(streams, args, database, profile, plan, summary.bracket, how);
  if (!flags_.quiet) {
    fmt::print(streams.err, "plan: {} on profile {}; {} of {} boots are done\n", plan.axis(), plan.profile,
               summary.boots_done, plan.order.size());
  }
  return carry_out(streams, args, database, profile, plan, summary.bracket.id, summary.bracket.uid, how);
}

}  // namespace bk::bracket_tool
