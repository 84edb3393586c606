#include "plan_flags.h"

#include <fmt/ostream.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "boot/leg_settings.h"
#include "bracket/execute.h"
#include "leg/greedy.h"
#include "show.h"

namespace bk::bracket_tool {
namespace {

constexpr int kReps = 6, kQuickReps = 3;
constexpr int kTokens = 768, kQuickTokens = 64;

}  // namespace

void PlanFlags::add_boots(cli::App& app, const std::string& help) {
  app.option("--boots", boots_, help).range(2, 999).value("N");
}

void PlanFlags::add_to(cli::App& app) {
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
  app.flag("--no-gate", no_gate_, "run no gate");
  app.option("--gates", gates_,
             "gates of each boot: " + join(boot::gate_names(), ", ") + "; without it the profile's GATES")
      .value("GATE,…")
      .no_default();
  app.option("--gate-context", gate_context_, "prompt tokens of check-quality").range(256, 1'000'000).value("N");
  app.option("--greedy-tokens", greedy_tokens_, "most tokens of each of greedy-divergence's twelve texts")
      .range(1, 1'000'000)
      .value("N");
  app.option("--alpha", alpha_, "false alarms that are accepted").range(0.0001, 0.5).value("P");
  app.option("--band", band_pct_, "effects within it do not matter, in percent").range(0, 100).value("PCT");
}

Result<bracket::PlanOptions> PlanFlags::options(std::uint64_t seed, const boot::Profile& profile) const {
  if (no_gate_ && gates_) return fail(Errc::kUsage, "--gates asks for gates and --no-gate for none", "--no-gate");
  std::vector<std::string> gates = no_gate_ ? std::vector<std::string>() : profile.gates;
  if (gates_) {
    auto named = boot::parse_gates(*gates_, ',');
    if (!named) return fail(Errc::kUsage, named.error().what, "--gates");
    gates = std::move(*named);
  }
  const auto asks = [&gates](const char* name) { return std::find(gates.begin(), gates.end(), name) != gates.end(); };
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
  if (asks("check-quality")) o.gate_contexts.push_back(gate_context_);
  if (asks(leg::kGreedyDivergence)) o.greedy_tokens = greedy_tokens_;
  o.alpha = alpha_;
  o.band = band_pct_ / 100;
  o.seed = seed;
  return o;
}

void print_plan(std::ostream& out, const bracket::Plan& plan, const bracket::Forecast& forecast) {
  std::vector<std::string> arms;
  for (const stats::Arm arm : plan.order) arms.emplace_back(to_string(arm));
  fmt::print(out, "plan: {} on profile {}; {} boots: {}\n", plan.axis(), plan.profile, arms.size(), join(arms, " "));
  fmt::print(out, "plan: {}\n", plan_text(plan));
  if (!plan.is_baseline()) {
    fmt::print(out, "plan: judged by {} at {}, alpha {:g}, practical band {:g} %\n", plan.metric, plan.cell,
               plan.options.alpha, 100 * plan.options.band);
    if (!plan.options.looks.empty()) {
      std::vector<std::string> looks;
      for (const int boots : plan.options.looks) {
        looks.push_back(fmt::format("{} ({:.2g})", boots, plan.rules_at(static_cast<std::size_t>(boots)).alpha));
      }
      fmt::print(out, "plan: ends early when resolved; boots at each look and its alpha: {}\n", join(looks, ", "));
    }
    fmt::print(out, "plan: {}\n", forecast_text(forecast));
    if (!forecast.planned.resolves) {
      fmt::print(out, "plan: --boots 5 or more, or `bracket baseline` before it, can resolve an effect\n");
    }
  }
  const auto& seconds = forecast.planned.seconds;
  fmt::print(out, "plan: {}\n",
             seconds ? "about " + human_duration(*seconds) + ", by this profile's latest boots"
                     : "time unknown until the first boot of this profile is done");
}

Result<cli::ExitCode> dry_run(cli::Streams& streams, const bracket::Plan& plan, const std::string& db) {
  bracket::Forecast forecast;
  if (std::filesystem::exists(db)) {
    BK_ASSIGN(store::Database database, store::Database::open(db, store::OpenMode::kReadOnly));
    BK_ASSIGN(forecast, bracket::forecast(database, plan, std::nullopt));
  } else {
    forecast = bracket::forecast_without_history(plan);
  }
  print_plan(streams.out, plan, forecast);
  return cli::ExitCode::kDone;
}

Result<Started> start(cli::Streams& streams, store::Database& database, const bracket::Plan& plan,
                      const std::string& reopen, bool quiet) {
  BK_ASSIGN(const bracket::Forecast forecast, bracket::forecast(database, plan, std::nullopt));
  if (!quiet) print_plan(streams.err, plan, forecast);
  Started started;
  BK_ASSIGN(started.bracket, bracket::store_plan(database, plan, reopen));
  BK_ASSIGN(const auto brackets, database.list_brackets());
  for (const auto& summary : brackets) {
    if (summary.bracket.id == started.bracket) started.uid = summary.bracket.uid;
  }
  return started;
}

Result<boot::Profile> profile_of(const std::string& name) {
  return boot::load_profile(name, boot::default_profile_dir(), boot::caller_environment());
}

}  // namespace bk::bracket_tool
