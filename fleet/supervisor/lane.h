#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "boot/launcher.h"
#include "rules.h"

namespace bk::supervisor {

/// What of a lane is given at the start.
struct LaneSetup {
  boot::Profile profile;  ///< its READY_TIMEOUT_S is the boot grace
  boot::Arm arm;
  boot::LaunchOptions launch;  ///< port, key, stop flag; the log file is chosen per launch
  std::filesystem::path state_dir;
};

/// The engine of a profile, as this process launched it or found it.
class Lane {
 public:
  explicit Lane(LaneSetup setup);

  /// Whether an engine can be found at all: only a fixed port can.
  [[nodiscard]] bool has_fixed_port() const { return fixed_port() > 0; }
  [[nodiscard]] const engine::Endpoint& endpoint() const { return endpoint_; }
  [[nodiscard]] const std::string& served_model() const { return setup_.profile.served_model; }
  [[nodiscard]] const std::filesystem::path& log_path() const { return log_path_; }
  [[nodiscard]] std::optional<pid_t> pid() const;
  [[nodiscard]] const std::filesystem::path& state_dir() const { return setup_.state_dir; }
  [[nodiscard]] const boot::Profile& profile() const { return setup_.profile; }
  [[nodiscard]] const std::string& api_key() const { return setup_.launch.api_key; }

  /// Stops the engine that was launched here, if one was, and boots another. One line for every knob that is not proved
  /// goes to `say`. Errors: those of boot::Launcher.
  [[nodiscard]] Status launch(const std::function<void(const std::string&)>& say);
  /// Why the engine that was launched here is gone; nothing while it runs, and for an adopted one.
  [[nodiscard]] std::optional<std::string> gone();
  /// Stops what was launched here. An adopted engine is left alone. kEnvironment when its port stays taken.
  Status stop();
  [[nodiscard]] bool owns_engine() const { return booted_ != nullptr; }

 private:
  [[nodiscard]] int fixed_port() const;

  LaneSetup setup_;
  std::unique_ptr<boot::Launcher> launcher_;
  std::unique_ptr<boot::Booted> booted_;
  engine::Endpoint endpoint_;
  std::filesystem::path log_path_;
  int boots_ = 0;
};

}  // namespace bk::supervisor
