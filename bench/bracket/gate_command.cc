#include "gate_command.h"

#include <ostream>

#include "base/text.h"
#include "boot/run_lock.h"
#include "carry_out.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "report/format.h"
#include "report/number.h"
#include "tool/bench.h"
#include "tool/gate.h"
#include "watcher.h"

namespace bk::bracket_tool {
namespace {

Json plan_json(const bracket::GatesPlan& plan, const std::string& profile) {
  Json json = Json::object();
  json.set("profile", profile).set("knobs", boot::format_knobs(plan.knobs)).set("contexts", plan.contexts);
  json.set("needle_context_tokens", plan.needle_context).set("korean_rounds", plan.korean_rounds);
  return json.set("greedy_tokens", plan.greedy_tokens).set("seed", std::to_string(plan.boot_seed));
}

report::Records records_of(const bracket::GatesOutcome& outcome) {
  using report::Align;
  report::Records records;
  records.columns = {{"gate", "", "", Align::kLeft},
                     {"verdict", "", "", Align::kLeft},
                     {"passed", "", "", Align::kRight, 9},
                     {"asked", "", "", Align::kRight, 9},
                     {"seconds", "time", "s", Align::kRight, 3},
                     {"detail", "", "", Align::kLeft}};
  for (const bracket::GateRun& gate : outcome.gates) {
    const std::string verdict = gate.counts ? leg::to_string(gate.result.verdict) : "not_judged";
    records.rows.push_back(
        {gate.result.name, verdict, gate.result.passed, gate.result.asked, gate.seconds, gate.result.detail});
  }
  return records;
}

/// What people need of a gate that did not pass: its questions that failed.
void print_misses(const bracket::GatesOutcome& outcome, std::ostream& out) {
  for (const bracket::GateRun& gate : outcome.gates) {
    for (const Json& question : gate.result.questions.items()) {
      const std::string verdict = question["verdict"].as_string().value_or("");
      if (verdict == "pass") continue;
      out << fmt::format("{}: {}: {}: expected {}, got {} ({})\n", gate.result.name, verdict,
                         question["question"].as_string().value_or(""), question["expected"].dump(),
                         question["answer"].dump(), question["reason"].as_string().value_or("no reason"));
    }
  }
}

void print(const bracket::GatesOutcome& outcome, const Json& plan, report::Format format, std::ostream& out) {
  report::Records records = records_of(outcome);
  if (format == report::Format::kTable) {
    print_misses(outcome, out);
    out << report::render(records, format);
    for (const std::string& note : outcome.notes) out << "note: " << note << '\n';
    out << fmt::format("=> {} (boot {}, {} s to ready)\n", leg::to_string(outcome.verdict()),
                       store::short_uid(outcome.boot_uid), report::number(outcome.boot_s));
    return;
  }
  Json head = tool::output_head("bracket");
  head.set("plan", plan).set("boot", outcome.boot_uid).set("boot_s", outcome.boot_s);
  head.set("model", outcome.model);
  head.set("engine_version", outcome.engine_version.empty() ? Json() : Json(outcome.engine_version));
  head.set("verdict", leg::to_string(outcome.verdict())).set("notes", outcome.notes);
  Json questions = Json::object();
  for (const bracket::GateRun& gate : outcome.gates) questions.set(gate.result.name, gate.result.questions);
  records.meta = head.set("questions", std::move(questions));
  out << report::render(records, format);
}

Result<cli::ExitCode> exit_of(const bracket::GatesOutcome& outcome) {
  if (outcome.nothing_answered()) return fail(Errc::kServer, "no question of any gate was answered");
  return tool::exit_of(outcome.verdict());
}

}  // namespace

void GateCommand::register_on(cli::App& app) {
  app.description(
      "Boots a profile as it is served, and runs every gate in that boot: check-quality, needle-256k, "
      "korean-corruption, and greedy-divergence against the earlier nights of the same configuration, which the "
      "database holds. Contexts that the engine's window cannot hold are left out and named.\n\n"
      "Exit code: 0 when every gate passed, 1 when one failed, 4 when answers are missing, 5 when the engine does not "
      "run what the profile asks for, 3 when it could not be booted or answered nothing, 130 when interrupted.");
  app.example("bracket gate --profile sim", "every gate on the embedded engine");
  app.example("bracket gate --profile sim --contexts 2K --needle-context 8192 --json", "a quick look, as JSON");
  app.section("PLAN");
  flags_.profile = "sim";
  flags_.add_to(app, {cli::Common::kProfile});
  app.option("--knobs", knobs_, "knobs set beside the profile's defaults").value("K=V,…").no_default();
  app.option("--contexts", contexts_, "prompt sizes of check-quality; K is 1024").value("LIST");
  app.option("--needle-context", needle_context_, "prompt tokens of needle-256k").range(128, 100'000'000).value("N");
  app.option("--korean-rounds", korean_rounds_, "rounds of korean-corruption, eight replies each")
      .range(1, 100'000)
      .value("N");
  app.option("--greedy-tokens", greedy_tokens_, "most tokens of a greedy text").range(1, 1'000'000).value("N");
  app.section("OUTPUT");
  app.option("--log-dir", log_dir_, "where the engine's log goes").value("DIR").no_default();
  flags_.add_to(app, {cli::Common::kSeed, cli::Common::kDb, cli::Common::kFormat, cli::Common::kOut,
                      cli::Common::kDryRun, cli::Common::kQuiet});
}

Result<bracket::GatesPlan> GateCommand::plan() const {
  bracket::GatesPlan plan;
  if (!knobs_.empty()) {
    BK_ASSIGN(plan.knobs, boot::parse_knobs(knobs_));
  }
  BK_ASSIGN(plan.contexts, tool::parse_token_list(contexts_, "--contexts"));
  plan.needle_context = needle_context_;
  plan.korean_rounds = korean_rounds_;
  plan.greedy_tokens = greedy_tokens_;
  plan.boot_seed = flags_.seed;
  return plan;
}

Result<cli::ExitCode> GateCommand::run(cli::Streams& streams, const cli::Args& args) {
  BK_ASSIGN(const report::Format format, report::parse_format(flags_.format));
  BK_ASSIGN(const boot::Profile profile,
            boot::load_profile(flags_.profile, boot::default_profile_dir(), boot::caller_environment()));
  BK_ASSIGN(const bracket::GatesPlan gates, plan());
  BK_TRY(boot::make_arm(profile, "base", gates.knobs));
  const Json planned = plan_json(gates, profile.name);
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, flags_.out));
  if (flags_.dry_run) {
    output.stream() << planned.dump(2) << '\n';
    BK_TRY(output.close());
    return cli::ExitCode::kDone;
  }
  BK_ASSIGN(const std::string key, engine_key(profile, streams));
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db));
  BK_ASSIGN(const store::RowId run, begin_run(database, streams, args, flags_.seed, std::nullopt));
  const cli::InterruptGuard guard;
  http::TransportOptions network;
  network.stopped = [&guard] { return guard.interrupted(); };
  ProgressWatcher watcher(streams, flags_.quiet, "", "");
  const auto launcher = boot::make_launcher(boot::run_lock_dir());
  const bracket::Tools tools{database,
                             *launcher,
                             watcher,
                             [network] { return http::make_curl_transport(network); },
                             network.stopped,
                             engine_log_dir(log_dir_, flags_.db),
                             {},
                             key};
  const auto outcome = bracket::run_gates(tools, profile, gates, run);
  watcher.finish();
  if (outcome) {
    print(*outcome, planned, format, output.stream());
    BK_TRY(output.close());
  }
  Result<cli::ExitCode> code = outcome ? exit_of(*outcome) : Result<cli::ExitCode>(fail(outcome.error()));
  const std::string state = code ? "done" : code.error().code == Errc::kInterrupted ? "interrupted" : "failed";
  BK_TRY(database.end_run(run, state, static_cast<int>(code ? *code : cli::exit_code_of(code.error().code)),
                          code ? "" : redact(code.error().text(), streams.secrets)));
  return code;
}

}  // namespace bk::bracket_tool
