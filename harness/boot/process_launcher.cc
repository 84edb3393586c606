#include <fmt/format.h>

#include <utility>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "boot/engine_boot.h"
#include "boot/fingerprint.h"
#include "boot/launcher.h"
#include "boot/needs.h"
#include "boot/overlay.h"
#include "http/transport.h"

namespace bk::boot {
namespace {

namespace fs = std::filesystem;

Environment process_environment(pid_t pid) {
  Environment found;
  const std::string text = read_file(fmt::format("/proc/{}/environ", pid)).value_or("");
  for (const std::string_view entry : split(text, '\0')) {
    const std::size_t equals = entry.find('=');
    if (equals != std::string_view::npos) found.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return found;
}

/// One process of this machine, from start to a free port.
class LocalProcess final : public Running {
 public:
  LocalProcess(StagedOverlay overlay, Process process, std::string host, int port)
      : overlay_(std::move(overlay)), process_(std::move(process)), host_(std::move(host)), port_(port) {}

  std::optional<std::string> ended() override {
    const auto exit = process_.poll();
    return exit ? std::optional(exit_text(*exit)) : std::nullopt;
  }
  [[nodiscard]] pid_t pid() const override { return process_.pid(); }
  Environment environment() override { return process_environment(process_.pid()); }

  Status stop(Nanos grace) override {
    process_.stop(grace);
    SystemClock clock;
    const Nanos limit = clock.now() + 10 * kSecond;
    Status free = check_port_free(host_, port_);
    while (!free && clock.now() < limit) {
      clock.sleep_until(clock.now() + 20 * kMillisecond);
      free = check_port_free(host_, port_);
    }
    return free;
  }

 private:
  StagedOverlay overlay_;  // outlives the process that sees it
  Process process_;
  std::string host_;
  int port_ = 0;
};

Result<int> choose_port(const Profile& profile, const LaunchOptions& options) {
  const int wanted = options.port > 0 ? options.port : profile.port;
  if (wanted == 0) return free_port(profile.host);
  BK_TRY(check_port_free(profile.host, wanted));
  return wanted;
}

Result<Command> make_command(const Profile& profile, const Arm& arm, const LaunchOptions& options, int port) {
  BootVariables variables;
  variables.port = port;
  variables.seed = options.seed;
  variables.boot_index = options.boot_index;
  variables.bin_dir = bin_dir_of(options);
  variables.root_dir = root_of(profile);
  BK_ASSIGN(Command command, resolve_command(profile, arm, variables));
  const fs::path log = fs::absolute(options.log_file);
  BK_TRY(make_directories(log.parent_path()));
  command.output_file = log.string();
  command.die_with_parent = true;
  return command;
}

class ProcessLauncher final : public Launcher {
 public:
  Result<std::unique_ptr<Booted>> boot(const Profile& profile, const Arm& arm, const LaunchOptions& options) override {
    // Everything that can be refused is, before a port is taken or anything of an older boot is touched.
    BK_TRY(check_needed_here(profile, arm, root_of(profile)));
    BK_ASSIGN(StagedOverlay overlay, stage_overlay(profile, root_of(profile), bin_dir_of(options)));
    BK_ASSIGN(const int port, choose_port(profile, options));
    BK_ASSIGN(Command command, make_command(profile, arm, options, port));
    BootFacts facts = facts_before_start(profile, arm, command, options, port);
    set_image(facts.fingerprint, "");
    if (!overlay.facts.is_null()) facts.fingerprint.set("overlay", overlay.facts);
    command.argv.insert(command.argv.begin(), overlay.enter.begin(), overlay.enter.end());
    facts.command.insert(facts.command.begin(), overlay.enter.begin(), overlay.enter.end());
    if (!profile.api_key_env.empty() && !options.api_key.empty()) command.env[profile.api_key_env] = options.api_key;
    const std::size_t log_start = log_size(command.output_file);
    const Nanos started = monotonic_now();
    auto process = Process::start(command);
    if (!process) {
      Error missing = process.error().with("starting the engine of profile " + profile.name);
      if (!profile.install.empty()) missing.what += "; " + profile.install;
      return fail(std::move(missing));
    }
    auto running = std::make_unique<LocalProcess>(std::move(overlay), std::move(*process), profile.host, port);
    auto booted = std::make_unique<EngineBoot>(profile, options, std::move(running), std::move(facts), log_start);
    booted->report(fmt::format("booting on port {}", port));
    const auto transport = http::make_curl_transport();
    BK_TRY(booted->become_ready(*transport, arm, started));
    return std::unique_ptr<Booted>(std::move(booted));
  }
};

}  // namespace

std::unique_ptr<Launcher> make_process_launcher() { return std::make_unique<ProcessLauncher>(); }

Result<std::string> read_key(const std::string& name, const Environment& caller) {
  if (const auto key = caller.find(name); key != caller.end()) return key->second;
  const auto file = caller.find(name + "_FILE");
  if (file == caller.end()) return std::string();
  BK_ASSIGN(const std::string text, read_file(file->second));
  return std::string(trim(text));
}

}  // namespace bk::boot
