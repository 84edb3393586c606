#include "carry_out.h"

#include <fmt/ostream.h>

#include "base/text.h"
#include "base/version.h"
#include "boot/run_lock.h"
#include "bracket/execute.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "show.h"
#include "watcher.h"

namespace bk::bracket_tool {
namespace {

Status end_run(store::Database& database, store::RowId run, const Result<Ended>& ended, const cli::Streams& streams) {
  if (ended) {
    return database.end_run(run, "done",
                            static_cast<int>(ended->is_void ? cli::ExitCode::kVoid : cli::ExitCode::kDone));
  }
  const Error& error = ended.error();
  return database.end_run(run, error.code == Errc::kInterrupted ? "interrupted" : "failed",
                          static_cast<int>(cli::exit_code_of(error.code)), redact(error.text(), streams.secrets));
}

}  // namespace

Result<store::RowId> begin_run(store::Database& database, const cli::Streams& streams, const cli::Args& args,
                               std::uint64_t seed, std::optional<store::RowId> bracket) {
  store::RunRow run;
  run.program = "bracket";
  run.tool_version = version();
  run.tool_commit = commit();
  Json argv = Json::array();
  for (const std::string& word : args) argv.push(redact(word, streams.secrets));
  run.argv_json = argv.dump();
  run.bracket_id = bracket;
  run.seed = static_cast<std::int64_t>(seed);
  run.started_wall = wall_now();
  BK_ASSIGN(run.host_id, database.add_host(store::this_host()));
  return database.begin_run(run);
}

Result<std::unique_ptr<FileLock>> own_bracket(const std::string& db, const std::string& uid) {
  const bool is_file = db.find("://") == std::string::npos;
  const auto folder = is_file ? std::filesystem::absolute(db).parent_path() : std::filesystem::temp_directory_path();
  auto lock = FileLock::take(folder / fmt::format(".bracket-{}.lock", store::short_uid(uid)));
  if (!lock && lock.error().code == Errc::kRefused) {
    return fail(Errc::kRefused, "the bracket is being run by " + lock.error().what + "; wait for it, or stop it first",
                store::short_uid(uid));
  }
  return lock;
}

Result<std::string> engine_key(const boot::Profile& profile, cli::Streams& streams) {
  if (profile.api_key_env.empty()) return std::string();
  BK_ASSIGN(std::string key, boot::read_key(profile.api_key_env, boot::caller_environment()));
  if (!key.empty()) streams.secrets.push_back(key);
  return key;
}

std::filesystem::path engine_log_dir(const std::string& log_dir, const std::string& db) {
  if (!log_dir.empty()) return log_dir;
  return std::filesystem::absolute(db).parent_path() / "logs";
}

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

Result<cli::ExitCode> carry_out(cli::Streams& streams, const cli::Args& args, store::Database& database,
                                const boot::Profile& profile, const bracket::Plan& plan, store::RowId bracket,
                                const std::string& uid, const CarryOut& how, const Body& body) {
  BK_ASSIGN(const std::string key, engine_key(profile, streams));
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, how.out));
  BK_ASSIGN(const store::RowId run, begin_run(database, streams, args, plan.options.seed, bracket));
  const cli::InterruptGuard guard;
  http::TransportOptions network;
  network.stopped = [&guard] { return guard.interrupted(); };
  ProgressWatcher watcher(streams, how.quiet, plan.metric, plan.cell);
  const auto launcher = boot::make_launcher(boot::run_lock_dir());
  const bracket::Tools tools{database,
                             *launcher,
                             watcher,
                             [network] { return http::make_curl_transport(network); },
                             network.stopped,
                             engine_log_dir(how.log_dir, how.db),
                             {},
                             key};
  const auto ended = body(tools, run);
  watcher.finish();
  BK_TRY(end_run(database, run, ended, streams));
  if (!ended) {
    const bool by_path = how.profile.find('/') != std::string::npos;
    fmt::print(streams.err, "bracket: everything measured is kept; go on with: bracket resume {} --db {}{}\n",
               store::short_uid(uid), how.db, by_path ? " --profile " + how.profile : "");
    return fail(ended.error());
  }
  BK_TRY(show_bracket(database, uid, how.format, output.stream()));
  BK_TRY(output.close());
  if (ended->is_void) return cli::ExitCode::kVoid;
  return ended->false_alarm ? cli::ExitCode::kFailed : cli::ExitCode::kDone;
}

Result<cli::ExitCode> carry_out(cli::Streams& streams, const cli::Args& args, store::Database& database,
                                const boot::Profile& profile, const bracket::Plan& plan, store::RowId bracket,
                                const std::string& uid, const CarryOut& how) {
  const Body body = [&](const bracket::Tools& tools, store::RowId run) -> Result<Ended> {
    BK_ASSIGN(const bracket::Outcome outcome, bracket::execute(tools, profile, plan, bracket, run));
    const stats::State state = outcome.judgement.assessment.state;
    const bool called = state == stats::State::kBetter || state == stats::State::kWorse;
    return Ended{state == stats::State::kVoid, plan.knob.empty() && called};
  };
  return carry_out(streams, args, database, profile, plan, bracket, uid, how, body);
}

}  // namespace bk::bracket_tool
