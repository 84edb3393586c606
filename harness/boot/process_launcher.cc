#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "boot/fingerprint.h"
#include "boot/knob_rules.h"
#include "boot/launcher.h"
#include "boot/overlay.h"
#include "boot/proofs.h"
#include "boot/readiness.h"
#include "engine/body.h"
#include "engine/metrics_client.h"
#include "http/transport.h"

namespace bk::boot {
namespace {

namespace fs = std::filesystem;

/// The last non-empty lines from byte `from` on, joined to one line for an error.
std::string log_tail(const fs::path& log, std::size_t from, const std::vector<std::string>& secrets) {
  constexpr std::size_t kLines = 6;
  constexpr std::size_t kLongest = 200;
  const std::string text = read_file(log).value_or("");
  std::vector<std::string> lines;
  for (const std::string_view line : split_lines(std::string_view(text).substr(std::min(from, text.size())))) {
    if (!trim(line).empty()) lines.emplace_back(trim(line).substr(0, kLongest));
  }
  if (lines.size() > kLines) lines.erase(lines.begin(), lines.end() - kLines);
  return lines.empty() ? "it wrote nothing" : "its last lines: " + redact(join(lines, " | "), secrets);
}

Environment process_environment(pid_t pid) {
  Environment found;
  const std::string text = read_file(fmt::format("/proc/{}/environ", pid)).value_or("");
  for (const std::string_view entry : split(text, '\0')) {
    const std::size_t equals = entry.find('=');
    if (equals != std::string_view::npos) found.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return found;
}

std::string exit_text(const Exit& exit) {
  return exit.code > 128 ? fmt::format("ended by signal {}", exit.code - 128) : fmt::format("exit code {}", exit.code);
}

/// One process of one boot, from start to a free port.
class ProcessBoot final : public Booted {
 public:
  ProcessBoot(const Profile& profile, LaunchOptions options, StagedOverlay overlay, Process process, BootFacts facts,
              std::size_t log_start)
      : profile_(profile),
        options_(std::move(options)),
        overlay_(std::move(overlay)),
        process_(std::move(process)),
        facts_(std::move(facts)),
        log_start_(log_start) {
    if (!options_.api_key.empty()) secrets_.push_back(options_.api_key);
  }
  ~ProcessBoot() override { (void)stop().has_value(); }

  [[nodiscard]] const BootFacts& facts() const override { return facts_; }

  Status alive() override {
    const auto exit = process_.poll();
    if (!exit) return {};
    return fail(
        Errc::kVoid,
        fmt::format("the engine died, {}; {}", exit_text(*exit), log_tail(facts_.log_path, log_start_, secrets_)),
        facts_.log_path.string());
  }

  Status stop() override {
    if (std::exchange(stopped_, true)) return {};
    process_.stop(from_s(profile_.stop_grace_s));
    SystemClock clock;
    const Nanos limit = clock.now() + 10 * kSecond;
    Status free = check_port_free(profile_.host, facts_.port);
    while (!free && clock.now() < limit) {
      clock.sleep_until(clock.now() + 20 * kMillisecond);
      free = check_port_free(profile_.host, facts_.port);
    }
    return free;
  }

  /// Waits for a generation, then reads what the engine shows of itself.
  Status become_ready(http::Transport& transport, const Arm& arm, Nanos started) {
    const auto check = [this]() -> Status {
      if (options_.interrupted && options_.interrupted())
        return fail(Errc::kInterrupted, "interrupted while the engine booted");
      if (auto status = alive(); !status) return fail(Errc::kEnvironment, status.error().what, status.error().where);
      return {};
    };
    const auto ready =
        wait_until_ready(transport, profile_, started + from_s(profile_.ready_timeout_s), check, facts_.endpoint);
    if (!ready) {
      Error error = ready.error();
      if (error.code == Errc::kTimeout) error.what += "; " + log_tail(facts_.log_path, log_start_, secrets_);
      return fail(std::move(error));
    }
    facts_.boot_s = to_s(monotonic_now() - started);
    report("ready");
    collect_proofs(transport, arm);
    facts_.fingerprint.set("boot_s", facts_.boot_s).set("model", facts_.endpoint.model);
    set_engine_version(transport);
    return {};
  }

  void report(const std::string& stage) const {
    if (options_.progress) options_.progress(stage);
  }

 private:
  [[nodiscard]] std::string log_text() const {
    const std::string text = read_file(facts_.log_path).value_or("");
    return text.substr(std::min(log_start_, text.size()));
  }

  Result<Json> get_json(http::Transport& transport, const std::string& path) const {
    BK_ASSIGN(const auto answer, http::fetch(transport, engine::plain_request(facts_.endpoint, path)));
    if (answer.status != 200) return fail(Errc::kHttp, fmt::format("HTTP {}", answer.status), path);
    return parse_json(answer.body);
  }

  /// A log line may reach its file a little after the first answer: missing ones are looked for again for a second.
  void collect_proofs(http::Transport& transport, const Arm& arm) {
    SystemClock clock;
    const Nanos limit = clock.now() + kSecond;
    Evidence evidence;
    evidence.environ = process_environment(facts_.pid);
    if (auto page = engine::fetch_metrics(transport, facts_.endpoint)) evidence.metrics = std::move(*page);
    evidence.get_json = [&](const std::string& path) { return get_json(transport, path); };
    while (true) {
      evidence.log = log_text();
      facts_.proofs = read_proofs(profile_, arm, evidence);
      const bool missing = std::any_of(facts_.proofs.begin(), facts_.proofs.end(),
                                       [](const Proof& p) { return p.reason == "no_evidence"; });
      if (!missing || clock.now() >= limit) break;
      clock.sleep_until(clock.now() + 100 * kMillisecond);
    }
    for (Proof& proof : facts_.proofs) {
      proof.evidence = redact(proof.evidence, secrets_);
      if (proof.confirmed) facts_.confirmed[proof.knob] = redact(*proof.confirmed, secrets_);
    }
  }

  void set_engine_version(http::Transport& transport) {
    if (const auto answer = get_json(transport, "/version"); answer && (*answer)["version"].as_string()) {
      facts_.fingerprint.set("engine_version", (*answer)["version"]);
      return;
    }
    std::smatch match;
    const std::string log = log_text().substr(0, 1U << 16U);
    for (const std::string_view line : split_lines(log)) {
      const std::string text(line.substr(0, 2000));
      if (profile_.engine_version_log.empty() ||
          !std::regex_search(text, match, std::regex(log_pattern(profile_.engine_version_log))))
        continue;
      facts_.fingerprint.set("engine_version", match.size() > 1 ? match[1].str() : match[0].str());
      return;
    }
    facts_.fingerprint.set("engine_version", Json()).set("engine_version_reason", "not_reported");
  }

  Profile profile_;
  LaunchOptions options_;
  StagedOverlay overlay_;  // outlives the process that sees it
  Process process_;
  BootFacts facts_;
  std::size_t log_start_ = 0;
  std::vector<std::string> secrets_;
  bool stopped_ = false;
};

fs::path running_program_dir() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

fs::path bin_dir_of(const LaunchOptions& options) {
  return options.bin_dir.empty() ? running_program_dir() : fs::absolute(options.bin_dir);
}

fs::path root_of(const Profile& profile) { return fs::absolute(profile.path).parent_path().parent_path(); }

/// A host that everybody listens on is reached over loopback.
std::string reachable(const std::string& host) { return host == "0.0.0.0" ? "127.0.0.1" : host; }

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
    BK_ASSIGN(StagedOverlay overlay, stage_overlay(profile, root_of(profile), bin_dir_of(options)));
    BK_ASSIGN(const int port, choose_port(profile, options));
    BK_ASSIGN(Command command, make_command(profile, arm, options, port));
    const std::vector<std::string> secrets =
        options.api_key.empty() ? std::vector<std::string>{} : std::vector{options.api_key};
    BootFacts facts;
    facts.fingerprint = configuration(profile, arm, command, secrets);
    facts.fingerprint.set("seed", static_cast<std::int64_t>(options.seed)).set("boot_index", options.boot_index);
    facts.fingerprint.set("host", machine_state());
    if (!overlay.facts.is_null()) facts.fingerprint.set("overlay", overlay.facts);
    command.argv.insert(command.argv.begin(), overlay.enter.begin(), overlay.enter.end());
    if (!profile.api_key_env.empty() && !options.api_key.empty()) command.env[profile.api_key_env] = options.api_key;
    std::error_code error;
    const std::uintmax_t log_size = fs::file_size(command.output_file, error);
    const Nanos started = monotonic_now();
    auto process = Process::start(command);
    if (!process) {
      Error missing = process.error().with("starting the engine of profile " + profile.name);
      if (!profile.install.empty()) missing.what += "; " + profile.install;
      return fail(std::move(missing));
    }
    facts.pid = process->pid();
    facts.port = port;
    facts.log_path = command.output_file;
    facts.command = redacted_argv(command.argv, secrets);
    facts.endpoint.base_url = fmt::format("http://{}:{}", reachable(profile.host), port);
    facts.endpoint.metrics_url =
        profile.metrics[0] == '/' ? facts.endpoint.base_url + profile.metrics : profile.metrics;
    facts.endpoint.api_key = options.api_key;
    auto booted = std::make_unique<ProcessBoot>(profile, options, std::move(overlay), std::move(*process),
                                                std::move(facts), error ? 0 : static_cast<std::size_t>(log_size));
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
