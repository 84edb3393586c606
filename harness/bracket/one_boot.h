#pragma once
#include <functional>
#include <string>
#include <vector>

#include "bracket/checks.h"
#include "bracket/execute.h"

namespace bk::bracket {

/// One boot of a bracket, from its first row to its last: engine up, proofs, legs, engine down.
class OneBoot {
 public:
  /// @param position  in the plan, from 0.  @param attempt  times that this position was begun before.
  /// @param before  what the finished boots of the bracket showed.
  OneBoot(const Tools& tools, const boot::Profile& profile, const Plan& plan, store::RowId bracket, store::RowId run,
          int position, int attempt, std::vector<BootEvidence> before);

  /// Runs it. A cause that voids the bracket is a value; an error leaves the boot failed or interrupted.
  Result<VoidCause> run();
  [[nodiscard]] const BootEvidence& evidence() const { return evidence_; }

 private:
  [[nodiscard]] std::string label() const;  ///< "boot 2/5 cand"
  Status begin(const boot::Arm& arm);
  Status record_facts(const boot::BootFacts& facts);
  Result<VoidCause> measure(boot::Booted& engine);
  Result<VoidCause> leg(http::Transport& transport, boot::Booted& engine, const std::string& name, const Json& plan,
                        const std::function<Status(leg::Sink&)>& body);
  VoidCause check(const boot::BootFacts& facts);
  /// A throttled GPU voids; a machine that others used is warned of, and stands in the leg's row.
  VoidCause judge_marks(const std::vector<std::string>& marks, const std::string& name);
  Status end(const std::string& state, const std::string& reason);

  const Tools& tools_;
  const boot::Profile& profile_;
  const Plan& plan_;
  store::RowId bracket_, run_;
  int position_, attempt_;
  std::vector<BootEvidence> before_;
  BootEvidence evidence_;
  store::BootRow row_;
  boot::LaunchOptions options_;
};

}  // namespace bk::bracket
