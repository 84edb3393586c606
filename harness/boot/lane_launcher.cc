#include <fmt/format.h>

#include <utility>

#include "base/file.h"
#include "boot/engine_boot.h"
#include "boot/launcher.h"
#include "boot/page_cache.h"
#include "boot/retry.h"
#include "boot/run_lock.h"
#include "boot/shared_lanes.h"

namespace bk::boot {
namespace {

namespace fs = std::filesystem;

/// A boot whose fingerprint also says what came before it.
class Annotated final : public Booted {
 public:
  Annotated(std::unique_ptr<Booted> inner, const Json& notes) : inner_(std::move(inner)), facts_(inner_->facts()) {
    for (const auto& [name, value] : notes.members()) facts_.fingerprint.set(name, value);
  }
  [[nodiscard]] const BootFacts& facts() const override { return facts_; }
  Status alive() override { return inner_->alive(); }
  Status stop() override { return inner_->stop(); }

 private:
  std::unique_ptr<Booted> inner_;
  BootFacts facts_;
};

class LaneLauncher final : public Launcher {
 public:
  explicit LaneLauncher(fs::path lock_dir) : lock_dir_(std::move(lock_dir)) {}

  Result<std::unique_ptr<Booted>> boot(const Profile& profile, const Arm& arm, const LaunchOptions& options) override {
    Launcher& launcher = launcher_of(profile);
    Json notes = Json::object();
    if (profile.exclusive && is_local(profile)) {  // others' preflight takes it, on every node
      if (lock_ == nullptr) {
        BK_ASSIGN(lock_, RunLock::take(lock_dir_, profile.name, true));
      }
      const Status dropped = drop_page_cache();
      notes.set("page_cache", dropped ? std::string("dropped") : "kept: " + dropped.error().what);
    }
    note_other_lanes(profile, notes);
    const std::size_t log_start = log_size(options.log_file);
    const Nanos started = monotonic_now();
    auto first = launcher.boot(profile, arm, options);
    if (first) return annotated(std::move(*first), notes);
    const std::string log = read_file(options.log_file).value_or("");
    const auto reason = retry_reason(first.error(), std::string_view(log).substr(std::min(log_start, log.size())));
    if (!reason) return first;
    if (options.progress) options.progress("booting once more: " + *reason);
    Json retry = Json::object();
    retry.set("reason", *reason).set("first_error", first.error().text());
    retry.set("first_attempt_s", to_s(monotonic_now() - started));
    notes.set("retried", std::move(retry));
    BK_ASSIGN(auto second, launcher.boot(profile, arm, options));
    return annotated(std::move(second), notes);
  }

 private:
  /// Who else runs a lane on this machine belongs to the record, whether it may or not.
  void note_other_lanes(const Profile& profile, Json& notes) {
    if (mark_ == nullptr) {
      if (auto mark = LaneMark::put(lock_dir_, profile.name)) mark_ = std::move(*mark);
    }
    notes.set("shares_machine_with", Json(other_lanes(lock_dir_)));
  }

  static std::unique_ptr<Booted> annotated(std::unique_ptr<Booted> booted, const Json& notes) {
    return std::make_unique<Annotated>(std::move(booted), notes);
  }

  /// A process of this machine, which ends with this program.
  static bool is_local(const Profile& profile) {
    return profile.nodes.empty() && (profile.runtime == Runtime::kProcess || profile.runtime == Runtime::kNamespace);
  }
  Launcher& launcher_of(const Profile& profile) { return is_local(profile) ? *process_ : *fleet_; }

  fs::path lock_dir_;
  std::unique_ptr<RunLock> lock_;
  std::unique_ptr<LaneMark> mark_;
  std::unique_ptr<Launcher> process_ = make_process_launcher();
  std::unique_ptr<Launcher> fleet_ = make_fleet_launcher();
};

}  // namespace

std::unique_ptr<Launcher> make_launcher(fs::path lock_dir) {
  return std::make_unique<LaneLauncher>(std::move(lock_dir));
}

}  // namespace bk::boot
