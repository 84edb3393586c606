#include "run.h"

#include <fmt/ostream.h>

#include <cstdlib>
#include <ostream>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "boot/run_lock.h"
#include "cli/app.h"
#include "cli/common_flags.h"
#include "cli/signals.h"
#include "kept.h"
#include "lane_lock.h"
#include "watch.h"

namespace bk::supervisor {
namespace {

using cli::ExitCode;

struct Options {
  cli::CommonFlags common;
  std::string knobs, state_dir;
  double time_scale = 1;
  int port = 0, reset_hour = 4;
};

void register_flags(cli::App& app, Options& options) {
  app.description(
      "Boots the engine of a profile as `bracket` does, and keeps it serving: looks every 30 s whether it lists its "
      "model and finishes a short chat, whether its process lives, and whether requests run without a token coming "
      "(tokens of its own chats taken off). A fault is recorded, the engine stopped and booted again; launches without "
      "half an hour of health between are spaced, 30 s doubling to 15 min. An engine that already answers on the "
      "profile's PORT is adopted: it is watched, and never stopped.\n\n"
      "Every event is one line on standard output and in STATE/events.jsonl; STATE/forensics/ holds what the last ten "
      "faults left behind, STATE/logs/ the last ten logs of the engine. SIGTERM stops the engine that it launched.\n\n"
      "Exit code: 0 stopped by a signal, 2 wrong profile or knobs, 3 another supervisor watches the lane, or the state "
      "folder cannot be written.");
  app.option("--profile", options.common.profile, "the engine: a name from profiles/, or a path")
      .required()
      .value("NAME")
      .no_default();
  app.option("--knobs", options.knobs, "knobs that differ from the profile's defaults").value("K=V,…").no_default();
  app.option("--port", options.port, "port instead of the profile's").range(0, 65535).value("N").no_default();
  app.option("--state-dir", options.state_dir, "where events, logs and forensics go (STATE)").value("DIR").no_default();
  app.option("--reset-hour", options.reset_hour, "hour of local time in which an idle prefix cache is reset; -1: never")
      .range(-1, 23)
      .value("H");
  app.option("--time-scale", options.time_scale, "divides every duration of the rules: for rehearsals")
      .range(0.001, 10000)
      .value("X");
  options.common.add_to(app, {cli::Common::kDryRun});
  app.example("supervisor --profile llama-cpp --port 8000", "keep a server running");
  app.example("supervisor --profile sim --dry-run", "the rules, and how long each fault takes to be seen");
}

std::filesystem::path state_dir(const Options& options, const std::string& profile) {
  if (!options.state_dir.empty()) return options.state_dir;
  if (const char* given = std::getenv("STATE_DIRECTORY")) return given;  // systemd's StateDirectory=
  return std::filesystem::path("supervisor") / profile;
}

Rules rules_of(const Options& options, const boot::Profile& profile) {
  Rules rules;
  rules.launch_limit = from_s(profile.ready_timeout_s);
  rules.reset_hour.reset();
  if (options.reset_hour >= 0) rules.reset_hour = options.reset_hour;
  return scaled(rules, options.time_scale);
}

void print_rules(std::ostream& out, const Rules& rules, const Options& options, const LaneSetup& setup) {
  fmt::print(out, "rules: profile {}, state in {}\n", setup.profile.name, setup.state_dir.string());
  if (options.time_scale != 1) fmt::print(out, "rules: every duration divided by {:g}\n", options.time_scale);
  for (const Detection& each : detections(rules)) {
    fmt::print(out, "rules: {:<36} seen within {:>8}  {}\n", each.what, human_duration(to_s(each.at_most)), each.sum);
  }
  fmt::print(out,
             "rules: {:<36} named before the third launch without {} of health; launches wait {}, doubling to {}\n",
             "flapping", human_duration(to_s(rules.stable_after)), human_duration(to_s(rules.pause_first)),
             human_duration(to_s(rules.pause_longest)));
  fmt::print(out, "rules: {:<36} no fault below {}\n", "an ingest that blocks new requests",
             human_duration(to_s(rules.chat_limit)));
}

/// The lane as its lock names it: by address, which no two engines share, or by profile.
std::string lane_name(const LaneSetup& setup) {
  const int port = setup.launch.port > 0 ? setup.launch.port : setup.profile.port;
  return port > 0 ? fmt::format("{}:{}", setup.profile.host, port) : setup.profile.name;
}

Journal make_journal(cli::Streams& streams, const LaneSetup& setup) {
  return [&streams, file = setup.state_dir / "events.jsonl", key = setup.launch.api_key, profile = setup.profile.name](
             const std::string& state, const std::string& event) {
    const std::string text = redact(event, {key});
    const std::string at = format_utc(wall_now());
    fmt::print(streams.out, "{} {} {}\n", at, state, text);
    streams.out.flush();
    Json line = Json::object();
    line.set("at", at).set("monotonic_s", to_s(monotonic_now())).set("profile", profile).set("state", state);
    line.set("event", text);
    if (const auto kept = append_file(file, line.dump() + "\n"); !kept)
      fmt::print(streams.err, "supervisor: warning: an event was not kept: {}\n", kept.error().text());
  };
}

Result<LaneSetup> read_setup(const Options& options, cli::Streams& streams) {
  LaneSetup setup;
  BK_ASSIGN(setup.profile,
            boot::load_profile(options.common.profile, boot::default_profile_dir(), boot::caller_environment()));
  boot::KnobMap knobs;
  if (!options.knobs.empty()) {
    BK_ASSIGN(knobs, boot::parse_knobs(options.knobs));
  }
  BK_ASSIGN(setup.arm, boot::make_arm(setup.profile, "supervised", knobs));
  setup.state_dir = std::filesystem::absolute(state_dir(options, setup.profile.name));
  setup.launch.port = options.port;
  if (!setup.profile.api_key_env.empty()) {
    BK_ASSIGN(setup.launch.api_key, boot::read_key(setup.profile.api_key_env, boot::caller_environment()));
    if (!setup.launch.api_key.empty()) streams.secrets.push_back(setup.launch.api_key);
  }
  return setup;
}

}  // namespace

Result<ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app("supervisor", "Keeps the engine of a profile serving");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return ExitCode::kDone;
  BK_ASSIGN(LaneSetup setup, read_setup(options, streams));
  const Rules rules = rules_of(options, setup.profile);
  if (options.common.dry_run) {
    print_rules(streams.out, rules, options, setup);
    return ExitCode::kDone;
  }
  setup.profile.ready_timeout_s = to_s(rules.launch_limit);
  BK_ASSIGN(const auto lock, take_lane(boot::run_lock_dir(), lane_name(setup)));
  BK_TRY(make_directories(setup.state_dir));
  const cli::InterruptGuard guard;
  const std::function<bool()> stop = [&guard] { return guard.interrupted(); };
  setup.launch.interrupted = stop;
  const Journal journal = make_journal(streams, setup);
  Lane lane(std::move(setup));
  BK_TRY(watch(rules, lane, stop, journal));
  return ExitCode::kDone;
}

}  // namespace bk::supervisor
