#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "boot/container.h"
#include "boot/engine_boot.h"
#include "boot/fingerprint.h"
#include "boot/fleet_settings.h"
#include "boot/launcher.h"
#include "boot/needs.h"
#include "boot/node_agent.h"
#include "boot/overlay.h"
#include "boot/preflight.h"
#include "boot/words.h"
#include "http/transport.h"

namespace bk::boot {
namespace {

namespace fs = std::filesystem;

/// Each rank writes a log of its own, the head's first.
std::string rank_log(const fs::path& log, std::size_t rank) {
  return rank == 0 ? log.string() : fmt::format("{}.rank{}", log.string(), rank);
}

std::string pid_file_of(const Profile& profile) { return fmt::format("/run/lock/bracketkit/engine.{}", profile.name); }

/// The engine's ranks on their nodes, the head first, and the sessions that keep the nodes.
class FleetRunning final : public Running {
 public:
  FleetRunning(std::unique_ptr<Preflight> preflight, std::string pid_file, fs::path log)
      : preflight_(std::move(preflight)),
        pid_file_(std::move(pid_file)),
        log_(std::move(log)),
        ranks_(preflight_->nodes().size()) {}

  void add(std::size_t rank, std::unique_ptr<Session> session) { ranks_[rank] = std::move(session); }

  std::optional<std::string> ended() override {
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const auto& rank = ranks_[i];
      const auto exit = rank == nullptr ? std::nullopt : rank->poll();
      if (!exit) continue;
      // ssh's own code for a connection that could not be made or was lost
      const std::string how = exit->code == 255 ? "the connection was lost" : exit_text(*exit);
      const std::string log = i == 0 ? "" : fmt::format(" (its log is {})", rank_log(log_, i));
      return fmt::format("node {}: {}{}", rank->node(), how, log);
    }
    return {};
  }
  Status await_workers() { return preflight_->await_workers(pid_file_); }
  [[nodiscard]] pid_t pid() const override { return ranks_.front() == nullptr ? -1 : ranks_.front()->pid(); }
  Environment environment() override { return preflight_->head_environment(pid_file_); }

  Status stop(Nanos grace) override {
    for (const auto& rank : ranks_) {
      if (rank != nullptr) (void)rank->finish(0);
    }
    std::vector<std::string> left;
    for (const auto& rank : ranks_) {
      if (rank != nullptr && !rank->finish(grace + 10 * kSecond)) left.push_back(rank->node());
    }
    ranks_.clear();
    ranks_.resize(1);
    for (auto& keeper : preflight_->take_sessions()) (void)keeper->finish(5 * kSecond);
    if (left.empty()) return {};
    return fail(Errc::kEnvironment, "the engine did not stop: look there", join(left, ", "));
  }

 private:
  std::unique_ptr<Preflight> preflight_;
  std::string pid_file_;
  fs::path log_;
  std::vector<std::unique_ptr<Session>> ranks_;
};

/// How one rank is started.
struct Start {
  std::vector<std::string> argv;
  std::string environment;  ///< lines for its input
};

class FleetBoot {
 public:
  FleetBoot(const Profile& profile, const Arm& arm, const LaunchOptions& options)
      : profile_(profile),
        arm_(arm),
        options_(options),
        root_(root_of(profile)),
        log_(fs::absolute(options.log_file)) {}

  Result<std::unique_ptr<Booted>> run() {
    // Everything that can be refused is, before anything of an older boot is touched.
    auto preflight =
        std::make_unique<Preflight>(profile_, root_, needed_on_nodes(profile_, arm_, root_), options_.interrupted);
    const std::size_t count = profile_.nodes.empty() ? 1 : profile_.nodes.size();
    port_ = options_.port > 0 ? options_.port : profile_.port;
    if (port_ == 0) {  // on this machine alone: NODES need a PORT
      BK_ASSIGN(port_, free_port(profile_.host));
    }
    for (std::size_t rank = 0; rank < count; ++rank) {
      BK_ASSIGN(Command command, command_of(static_cast<int>(rank), static_cast<int>(count)));
      commands_.push_back(std::move(command));
    }
    BK_TRY(make_directories(log_.parent_path()));
    BK_ASSIGN(checked_, preflight->run());
    const std::vector<std::string> nodes = preflight->nodes();
    std::vector<Start> starts;
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
      BK_ASSIGN(Start start, start_of(nodes[rank], rank));
      starts.push_back(std::move(start));
    }
    BK_ASSIGN(Json cleared, preflight->clear(pid_file_of(profile_)));
    BootFacts facts = facts_before_start(profile_, arm_, commands_.front(), options_, port_);
    facts.fingerprint.set("nodes", preflight->nodes()).set("memory_before", std::move(cleared));
    facts.fingerprint.set("overlay_release", checked_.release.empty() ? Json() : Json(checked_.release));
    set_image(facts.fingerprint, checked_.image_id);
    const std::size_t log_start = log_size(log_);
    const Nanos started = monotonic_now();
    auto running = std::make_unique<FleetRunning>(std::move(preflight), pid_file_of(profile_), log_);
    for (std::size_t rank = 1; rank < nodes.size(); ++rank) BK_TRY(start(nodes[rank], rank, starts[rank], *running));
    BK_TRY(running->await_workers());
    BK_TRY(start(nodes.front(), 0, starts.front(), *running));
    auto booted = std::make_unique<EngineBoot>(profile_, options_, std::move(running), std::move(facts), log_start);
    booted->report(fmt::format("booting on {} nodes", nodes.size()));
    const auto transport = http::make_curl_transport();
    BK_TRY(booted->become_ready(*transport, arm_, started));
    return std::unique_ptr<Booted>(std::move(booted));
  }

 private:
  [[nodiscard]] bool in_container() const {
    return profile_.runtime == Runtime::kDocker || profile_.runtime == Runtime::kPodman;
  }

  Result<Command> command_of(int rank, int count) {
    BootVariables variables;
    variables.port = port_;
    variables.seed = options_.seed;
    variables.boot_index = options_.boot_index;
    variables.bin_dir = bin_dir_of(options_);
    variables.root_dir = root_;
    variables.rank = rank;
    variables.node_count = count;
    BK_ASSIGN(Command command, resolve_command(profile_, arm_, variables));
    command.output_file = rank_log(log_, static_cast<std::size_t>(rank));
    return command;
  }

  Result<std::vector<std::string>> container_argv(const Command& command, int rank) const {
    Container container;
    container.cli = profile_.runtime;
    container.name = container_name(profile_.name, rank);
    container.image = checked_.image_id.empty() ? profile_.image : checked_.image_id;
    container.lane = profile_.name;
    container.arm = arm_.label;
    container.rank = rank;
    BK_ASSIGN(container.flags, split_words(profile_.container_flags));
    container.mounts = profile_.mounts;
    container.overlay_dir = fmt::format("{}/{}/releases/{}", profile_.deploy_dir, profile_.name, checked_.release);
    container.package_root = package_of(profile_, root_).string();
    container.overlay = checked_.overlay;
    for (const auto& [name, value] : command.env) {
      if (names_secret(name)) {
        container.secret_env.push_back(name);
      } else {
        container.env.emplace(name, value);
      }
    }
    if (!profile_.api_key_env.empty() && !options_.api_key.empty())
      container.secret_env.push_back(profile_.api_key_env);
    container.command = command.argv;
    return run_argv(container);
  }

  /// What starts a rank on its node. kUsage when its command line is longer than the system takes.
  Result<Start> start_of(const std::string& node, std::size_t place) const {
    const int rank = static_cast<int>(place);
    const Command& command = commands_[place];
    const int grace_s = static_cast<int>(std::ceil(profile_.stop_grace_s));
    std::vector<std::string> arguments = {pid_file_of(profile_), in_container() ? "/" : root_.string(),
                                          std::to_string(grace_s)};
    Start start;
    std::vector<std::string> argv = command.argv;
    if (in_container()) {
      arguments.push_back(shell_quote(stop_argv(profile_.runtime, container_name(profile_.name, rank), grace_s)));
      BK_ASSIGN(argv, container_argv(command, rank));
    } else {
      arguments.emplace_back();
    }
    for (const auto& [name, value] : command.env) {
      if (!in_container() || names_secret(name)) start.environment += name + "=" + value + "\n";
    }
    if (!profile_.api_key_env.empty() && !options_.api_key.empty()) {
      start.environment +=
          profile_.api_key_env + "=" + options_.api_key + "\n";  // by the connection, on no command line
    }
    arguments.insert(arguments.end(), argv.begin(), argv.end());
    start.argv = ssh_argv(ssh_of(profile_, root_), node, engine_script(), arguments);
    constexpr std::size_t kLongestWord = 131'071;  // MAX_ARG_STRLEN: ssh takes the whole line as one word
    for (const std::string& word : start.argv) {
      if (word.size() <= kLongestWord) continue;
      return fail(
          Errc::kUsage,
          fmt::format("the command line of the engine has {} bytes, {} are possible: the overlay mounts too many "
                      "files one by one",
                      word.size(), kLongestWord),
          node);
    }
    return start;
  }

  Status start(const std::string& node, std::size_t place, const Start& start, FleetRunning& running) {
    BK_ASSIGN(auto session, Session::open(node, start.argv, commands_[place].output_file));
    BK_TRY(session->send_now(start.environment + "\n"));
    running.add(place, std::move(session));
    return {};
  }

  const Profile& profile_;
  const Arm& arm_;
  const LaunchOptions& options_;
  fs::path root_;
  fs::path log_;
  int port_ = 0;
  std::vector<Command> commands_;
  Checked checked_;
};

class FleetLauncher final : public Launcher {
 public:
  Result<std::unique_ptr<Booted>> boot(const Profile& profile, const Arm& arm, const LaunchOptions& options) override {
    return FleetBoot(profile, arm, options).run();
  }
};

}  // namespace

std::unique_ptr<Launcher> make_fleet_launcher() { return std::make_unique<FleetLauncher>(); }

}  // namespace bk::boot
