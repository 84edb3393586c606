#pragma once
#include <memory>
#include <string>
#include <vector>

#include "boot/launcher.h"
#include "boot/running.h"
#include "http/transport.h"

namespace bk::boot {

/// One boot of an engine, however it is run: from its start to its end.
class EngineBoot final : public Booted {
 public:
  /// `log_start`: bytes of the log that older boots wrote.
  EngineBoot(const Profile& profile, LaunchOptions options, std::unique_ptr<Running> running, BootFacts facts,
             std::size_t log_start);
  ~EngineBoot() override;

  [[nodiscard]] const BootFacts& facts() const override { return facts_; }
  Status alive() override;
  Status stop() override;

  /// Waits for a generation, then reads what the engine shows of itself. The errors of Launcher::boot().
  Status become_ready(http::Transport& transport, const Arm& arm, Nanos started);
  void report(const std::string& stage) const;

 private:
  [[nodiscard]] std::string log_text() const;
  [[nodiscard]] Result<Json> get_json(http::Transport& transport, const std::string& path) const;
  void collect_proofs(http::Transport& transport, const Arm& arm);
  void set_engine_version(http::Transport& transport);

  Profile profile_;
  LaunchOptions options_;
  std::unique_ptr<Running> running_;
  BootFacts facts_;
  std::size_t log_start_ = 0;
  std::vector<std::string> secrets_;
  bool stopped_ = false;
};

/// The parts of BootFacts that are known before the start: command, port, endpoint, configuration, this machine's
/// state.
[[nodiscard]] BootFacts facts_before_start(const Profile& profile, const Arm& arm, const Command& command,
                                           const LaunchOptions& options, int port);

/// The folder above the profile's, and the folder of our programs.
[[nodiscard]] std::filesystem::path root_of(const Profile& profile);
[[nodiscard]] std::filesystem::path bin_dir_of(const LaunchOptions& options);

/// Bytes in the log now; 0 when there is none.
[[nodiscard]] std::size_t log_size(const std::filesystem::path& log);

/// "ended by signal 9", "exit code 7".
[[nodiscard]] std::string exit_text(const Exit& exit);

}  // namespace bk::boot
