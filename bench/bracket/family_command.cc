#include "family_command.h"

#include <fmt/ostream.h>

#include <filesystem>

#include "base/text.h"
#include "bracket/family_execute.h"
#include "bracket/family_forecast.h"
#include "cli/format.h"
#include "family_text.h"
#include "show.h"

namespace bk::bracket_tool {
namespace {

Result<cli::ExitCode> carry_out_family(cli::Streams& streams, const cli::Args& args, store::Database& database,
                                       const boot::Profile& profile, const bracket::Family& family,
                                       const bracket::FamilyRows& rows, const CarryOut& how) {
  const Body body = [&](const bracket::Tools& tools, store::RowId run) -> Result<Ended> {
    BK_ASSIGN(const bracket::FamilyOutcome outcome, bracket::execute_family(tools, profile, family, rows, run));
    return Ended{outcome.is_void, false};
  };
  return carry_out(streams, args, database, profile, family.whole, rows.whole.id, rows.whole.uid, how, body);
}

Result<cli::ExitCode> dry_run_family(cli::Streams& streams, const bracket::Family& family, const std::string& db) {
  bracket::FamilyForecast forecast = bracket::forecast_without_history(family);
  if (std::filesystem::exists(db)) {
    BK_ASSIGN(store::Database database, store::Database::open(db, store::OpenMode::kReadOnly));
    BK_ASSIGN(forecast, bracket::forecast(database, family));
  }
  print_family_plan(streams.out, family, forecast);
  return cli::ExitCode::kDone;
}

}  // namespace

void FamilyCommand::register_on(cli::App& app) {
  if (kind_ == Kind::kMatrix) {
    app.description(
        "Judges several knobs of one profile: each changed value alone against shared base boots, then, when the "
        "single "
        "arms passed, their combinations. An arm that is void, measures worse or does not pass its gate stops the "
        "combinations that it is part of. Of each combination the interaction is estimated: what it does beyond the "
        "sum of its knobs alone. All questions share alpha.\n\n"
        "Exit code: 0 when it completed whatever it found, 5 when nothing of it may be used, 3 when an engine could "
        "not "
        "be booted, 130 when interrupted (`bracket resume` goes on).");
    app.example("bracket matrix --knob GATEFUSE=0,1 --knob ONESHOT=0,1", "two knobs of the embedded engine");
    app.example("bracket matrix --knob GATEFUSE=0,1 --knob ONESHOT=0,1 --dry-run", "its boots, and what it can show");
  } else {
    app.description(
        "Measures a knob's values against one base: the effect of each with its interval, the best one, and the values "
        "that are not told from the best. Base boots are shared, and all values share alpha. The values run forth and "
        "back, so that drift favours none.\n\n"
        "Exit code: 0 when it completed whatever it found, 5 when nothing of it may be used, 3 when an engine could "
        "not "
        "be booted, 130 when interrupted (`bracket resume` goes on).");
    app.example("bracket sweep --knob SPEC_TOKENS=1,3,5,7", "how many draft tokens are best");
    app.example("bracket sweep --knob SPEC_TOKENS=1,3,5,7 --base 5 --rounds 4", "against what runs today, more boots");
  }
  app.section("PLAN");
  app.option("--knob", knobs_,
             kind_ == Kind::kMatrix ? "a knob and its values, the base's first; give it once for each knob"
                                    : "the knob and its values, the base's first unless --base says otherwise")
      .required()
      .value("K=V,V,…");
  if (kind_ == Kind::kSweep) {
    app.option("--base", base_, "the value that the others are compared with").value("V").no_default();
  }
  app.option("--set", set_, "other knobs of every boot").value("K=V,…").no_default();
  flags_.profile = "sim";
  flags_.add_to(app, {cli::Common::kProfile});
  app.option("--rounds", rounds_, "boots of each arm; an even number keeps drift apart from the arms entirely")
      .range(1, 99)
      .value("N");
  plan_.add_to(app);
  app.option("--reopen", reopen_, "why a rejected axis is measured again").value("WHY").no_default();
  app.section("OUTPUT");
  app.option("--log-dir", log_dir_, "where engine logs go").value("DIR").no_default();
  flags_.add_to(app,
                {cli::Common::kSeed, cli::Common::kDb, cli::Common::kOut, cli::Common::kDryRun, cli::Common::kQuiet});
  cli::add_format(app, flags_, {"table", "json"});
}

Result<bracket::FamilySpec> FamilyCommand::spec() const {
  bracket::FamilySpec spec;
  spec.kind = kind_;
  spec.rounds = rounds_;
  if (kind_ == Kind::kSweep && knobs_.size() > 1) {
    return fail(Errc::kUsage, "a sweep varies one knob; several together are a `bracket matrix`", "--knob");
  }
  for (const std::string& text : knobs_) {
    BK_ASSIGN(bracket::KnobAxis axis, bracket::parse_axis(text, base_, "--knob"));
    spec.axes.push_back(std::move(axis));
  }
  if (!set_.empty()) {
    BK_ASSIGN(spec.set, boot::parse_knobs(set_));
  }
  return spec;
}

Result<cli::ExitCode> FamilyCommand::run(cli::Streams& streams, const cli::Args& args) {
  BK_ASSIGN(const boot::Profile profile, profile_of(flags_.profile));
  BK_ASSIGN(const bracket::FamilySpec asked, spec());
  BK_ASSIGN(const bracket::PlanOptions options, plan_.options(flags_.seed, profile));
  BK_ASSIGN(const bracket::Family family, bracket::make_family(profile, asked, options));
  if (flags_.dry_run) return dry_run_family(streams, family, flags_.db);
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db));
  for (const bracket::FamilyArm& arm : family.arms) BK_TRY(guard_rejected(database, arm.plan, reopen_));
  BK_ASSIGN(const bracket::FamilyForecast forecast, bracket::forecast(database, family));
  if (!flags_.quiet) print_family_plan(streams.err, family, forecast);
  BK_ASSIGN(const bracket::FamilyRows rows, bracket::store_family(database, family, std::string(trim(reopen_))));
  BK_ASSIGN(const auto owned, own_bracket(flags_.db, rows.whole.uid));
  return carry_out_family(streams, args, database, profile, family, rows,
                          {flags_.db, flags_.profile, log_dir_, flags_.format, flags_.out, flags_.quiet});
}

Result<cli::ExitCode> resume_family(cli::Streams& streams, const cli::Args& args, store::Database& database,
                                    const boot::Profile& profile, const bracket::Plan& plan,
                                    const store::BracketRow& whole, const CarryOut& how) {
  BK_ASSIGN(const auto stored, bracket::stored_family(database, whole));
  const auto& [family, rows] = stored;
  if (!how.quiet) {
    BK_ASSIGN(const auto members, database.family_members(whole.id));
    BK_ASSIGN(const auto bases, database.boots(whole.id));
    std::int64_t base = 0;
    for (const store::BootRow& boot : bases) base += boot.state == "done" ? 1 : 0;
    std::int64_t done = base;
    for (const store::BracketSummary& member : members) done += member.boots_done - base;
    fmt::print(streams.err, "plan: {} on profile {}; {} of {} boots are done\n", plan.axis(), plan.profile, done,
               family.order.size());
  }
  return carry_out_family(streams, args, database, profile, family, rows, how);
}

}  // namespace bk::bracket_tool
