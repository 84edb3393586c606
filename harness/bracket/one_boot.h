#pragma once
#include <functional>
#include <string>
#include <vector>

#include "bracket/checks.h"
#include "bracket/execute.h"

namespace bk::bracket {

/// Which boot of a stored plan.
struct BootSlot {
  const Plan& plan;  ///< of the arm; has to outlive the boot
  store::RowId bracket = 0;
  stats::Arm arm = stats::Arm::kBase;
  int position = 0, of = 0;         ///< place in time, from 0; boots in all
  int attempt = 0;                  ///< times that this position was begun before
  std::string name;                 ///< "cand", "GATEFUSE=1"
  std::vector<const Plan*> proven;  ///< plans whose judged knobs the boot has to prove; a shared base boot has several
};

/// One boot of a bracket, from its first row to its last: engine up, proofs, legs, engine down.
class OneBoot {
 public:
  /// @param before  what the finished boots of the bracket showed.
  OneBoot(const Tools& tools, const boot::Profile& profile, BootSlot slot, store::RowId run,
          std::vector<BootEvidence> before);

  /// Runs it. A cause that voids the bracket is a value; an error leaves the boot failed or interrupted.
  Result<VoidCause> run();
  [[nodiscard]] const BootEvidence& evidence() const { return evidence_; }

 private:
  [[nodiscard]] std::string label() const;  ///< "boot 2/5 cand"
  Status begin(const boot::Arm& arm);
  Status record_facts(const boot::BootFacts& facts);
  Result<VoidCause> measure(boot::Booted& engine);
  Result<VoidCause> gates(http::Transport& transport, boot::Booted& engine);
  Result<VoidCause> leg(http::Transport& transport, boot::Booted& engine, const std::string& name, const Json& plan,
                        const std::function<Status(leg::Sink&)>& body);
  VoidCause check(const boot::BootFacts& facts);
  /// A throttled GPU voids, and so does a foreign load above the profile's bound; other marks are warned of, and stand
  /// in the leg's row.
  /// @param busy_share  of the cores around the leg, 0..1, while nothing was asked of the server.
  VoidCause judge_marks(const std::vector<std::string>& marks, double busy_share, const std::string& name);
  Status end(const std::string& state, const std::string& reason);

  const Tools& tools_;
  const boot::Profile& profile_;
  BootSlot slot_;
  store::RowId run_;
  std::vector<BootEvidence> before_;
  BootEvidence evidence_;
  store::BootRow row_;
  boot::LaunchOptions options_;
};

}  // namespace bk::bracket
