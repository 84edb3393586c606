#include "run_command.h"

#include <fmt/ostream.h>

#include "base/text.h"
#include "bracket/execute.h"
#include "bracket/stored_plan.h"
#include "show.h"

namespace bk::bracket_tool {
namespace {

constexpr int kReps = 6, kQuickReps = 3;
constexpr int kTokens = 768, kQuickTokens = 64;

void print_plan(std::ostream& out, const bracket::Plan& plan, std::optional<double> seconds) {
  std::vector<std::string> arms;
  for (const stats::Arm arm : plan.order) arms.emplace_back(to_string(arm));
  fmt::print(out, "plan: {} on profile {}; {} boots: {}\n", plan.axis(), plan.profile, arms.size(), join(arms, " "));
  fmt::print(out, "plan: {}; judged by {} at {}, alpha {:g}, practical band {:g} %\n", plan_text(plan), plan.metric,
             plan.cell, plan.options.alpha, 100 * plan.options.band);
  if (plan.order.size() < 5) {
    fmt::print(out, "plan: {} boots leave {} to judge with; --boots 5 or more can resolve an effect\n",
               plan.order.size(), plan.order.size() == 4 ? "one degree of freedom" : "no degree of freedom");
  }
  fmt::print(out, "plan: {}\n",
             seconds ? "about " + human_duration(*seconds) + ", by this profile's latest boots"
                     : "time unknown until the first boot of this profile is done");
}

/// A rejected axis is not measured again by accident.
Status guard_rejected(store::Database& database, const bracket::Plan& plan, const std::string& reopen) {
  if (!trim(reopen).empty()) return {};
  BK_ASSIGN(const auto rejected, database.rejected(plan.profile, plan.knob, plan.cand_value));
  if (rejected.empty()) return {};
  const store::BracketSummary& last = rejected.back();
  return fail(
      Errc::kRefused,
      fmt::format("{}={} was rejected by {} ({}): say what changed with --reopen \"why\"", plan.knob, plan.cand_value,
                  last.verdict ? last.verdict->signed_by : "somebody", last.verdict ? last.verdict->reason : ""),
      store::short_uid(last.bracket.uid));
}

Result<boot::Profile> profile_of(const std::string& name) {
  return boot::load_profile(name, boot::default_profile_dir(), boot::caller_environment());
}

}  // namespace

void RunCommand::register_on(cli::App& app) {
  app.description(
      "Boots base, candidate, base … of one profile with exactly one knob differing, measures decode speed and runs a "
      "quality gate in each boot, stores every sample as it arrives, and judges.\n\n"
      "Exit code: 0 when the bracket completed whatever it found, 5 when it is void, 3 when an engine could not be "
      "booted, 130 when interrupted (`bracket resume` goes on).");
  app.example("bracket run --base GATEFUSE=0 --cand GATEFUSE=1 --boots 5", "the embedded engine, five boots");
  app.example("bracket run --profile llama-cpp --base SPEC=none --cand SPEC=ngram", "a real engine");
  app.section("PLAN");
  app.option("--base", base_, "knobs of the base arm").required().value("K=V,…").no_default();
  app.option("--cand", cand_, "knobs of the candidate: the same ones, one with another value")
      .required()
      .value("K=V,…")
      .no_default();
  flags_.profile = "sim";
  flags_.add_to(app, {cli::Common::kProfile});
  app.option("--boots", boots_, "boots in all, alternating from base").range(2, 999).value("N");
  app.option("--reps", reps_, "measured rounds in each boot (6; with --quick 3)")
      .range(1, 1'000'000)
      .value("N")
      .no_default();
  app.option("--tokens", tokens_, "most tokens of an answer (768; with --quick 64)")
      .range(2, 1'000'000)
      .value("N")
      .no_default();
  app.option("--warmup", warmup_, "rounds discarded before the measured ones").range(0, 1000).value("N");
  app.option("--conc", concurrency_, "concurrencies to measure; 1 is the one that is judged")
      .separated_by(',')
      .value("C,…");
  app.option("--temperature", temperature_, "sampling temperature").range(0, 2);
  app.flag("--ignore-eos", ignore_eos_, "ask for exactly --tokens tokens; a shorter answer then fails");
  app.flag("--quick", quick_, "few and short rounds, to see whether everything works");
  app.flag("--no-gate", no_gate_, "run no quality gate");
  app.option("--gate-context", gate_context_, "prompt tokens of the quality gate").range(256, 1'000'000).value("N");
  app.option("--alpha", alpha_, "false alarms that are accepted").range(0.0001, 0.5).value("P");
  app.option("--band", band_pct_, "effects within it do not matter, in percent").range(0, 100).value("PCT");
  app.option("--reopen", reopen_, "why a rejected axis is measured again").value("WHY").no_default();
  app.section("OUTPUT");
  app.option("--log-dir", log_dir_, "where engine logs go").value("DIR").no_default();
  flags_.add_to(app, {cli::Common::kSeed, cli::Common::kDb, cli::Common::kFormat, cli::Common::kOut,
                      cli::Common::kDryRun, cli::Common::kQuiet});
}

bracket::PlanOptions RunCommand::options() const {
  bracket::PlanOptions o;
  o.boots = boots_;
  o.decode.concurrency.clear();
  for (const std::int64_t c : concurrency_) o.decode.concurrency.push_back(static_cast<int>(c));
  o.decode.reps = static_cast<int>(reps_.value_or(quick_ ? kQuickReps : kReps));
  o.decode.max_tokens = static_cast<int>(tokens_.value_or(quick_ ? kQuickTokens : kTokens));
  o.decode.warmup = warmup_;
  o.decode.temperature = temperature_;
  o.decode.ignore_eos = ignore_eos_;
  o.gate_contexts.clear();
  if (!no_gate_) o.gate_contexts.push_back(gate_context_);
  o.alpha = alpha_;
  o.band = band_pct_ / 100;
  o.seed = flags_.seed;
  return o;
}

Result<cli::ExitCode> RunCommand::run(cli::Streams& streams, const cli::Args& args) {
  BK_TRY(check_format(flags_.format));
  BK_ASSIGN(const boot::Profile profile, profile_of(flags_.profile));
  BK_ASSIGN(const boot::KnobMap base, boot::parse_knobs(base_));
  BK_ASSIGN(const boot::KnobMap cand, boot::parse_knobs(cand_));
  BK_ASSIGN(const bracket::Plan plan, bracket::make_plan(profile, base, cand, options()));
  if (flags_.dry_run) {
    print_plan(streams.out, plan, std::nullopt);
    return cli::ExitCode::kDone;
  }
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db));
  BK_TRY(guard_rejected(database, plan, reopen_));
  BK_ASSIGN(const auto seconds, bracket::estimated_seconds(database, plan));
  if (!flags_.quiet) print_plan(streams.err, plan, seconds);
  BK_ASSIGN(const store::RowId id, bracket::store_plan(database, plan, std::string(trim(reopen_))));
  BK_ASSIGN(const auto brackets, database.list_brackets());
  std::string uid;
  for (const auto& summary : brackets) {
    if (summary.bracket.id == id) uid = summary.bracket.uid;
  }
  BK_ASSIGN(const auto owned, own_bracket(flags_.db, uid));
  return carry_out(streams, args, database, profile, plan, id, uid,
                   {flags_.db, flags_.profile, log_dir_, flags_.format, flags_.out, flags_.quiet});
}

void ResumeCommand::register_on(cli::App& app) {
  app.description(
      "Runs the boots of a stored plan that are not done. Refuses when the profile or a knob is no longer what "
      "was planned, and says what changed.");
  app.positional("ID", id_, "the bracket: its id or the first characters of it").required();
  app.option("--log-dir", log_dir_, "where engine logs go").value("DIR").no_default();
  flags_.add_to(
      app, {cli::Common::kProfile, cli::Common::kDb, cli::Common::kFormat, cli::Common::kOut, cli::Common::kQuiet});
}

Result<cli::ExitCode> ResumeCommand::run(cli::Streams& streams, const cli::Args& args) {
  BK_TRY(check_format(flags_.format));
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db));
  BK_ASSIGN(const store::BracketSummary named, database.bracket(id_));
  BK_ASSIGN(const auto owned, own_bracket(flags_.db, named.bracket.uid));
  BK_ASSIGN(const store::BracketSummary summary, database.bracket(named.bracket.uid));
  BK_ASSIGN(const boot::Profile profile, profile_of(flags_.profile.empty() ? summary.bracket.profile : flags_.profile));
  BK_ASSIGN(const bracket::Plan plan, bracket::resumable_plan(database, summary.bracket, profile));
  if (!flags_.quiet) {
    fmt::print(streams.err, "plan: {} on profile {}; {} of {} boots are done\n", plan.axis(), plan.profile,
               summary.boots_done, plan.order.size());
  }
  return carry_out(streams, args, database, profile, plan, summary.bracket.id, summary.bracket.uid,
                   {flags_.db, flags_.profile, log_dir_, flags_.format, flags_.out, flags_.quiet});
}

}  // namespace bk::bracket_tool
