#pragma once
#include <optional>
#include <string>
#include <vector>

#include "boot/launcher.h"
#include "bracket/plan.h"
#include "engine/acceptance.h"
#include "leg/sink.h"

namespace bk::bracket {

/// Why a bracket may not be used. Reason codes: "proof_failed", "two_knobs_differ", "base_equals_cand",
/// "engine_changed", "engine_restarted", "prefix_cache_hit", "failed_requests", "gpu_throttled", "foreign_load".
struct VoidCause {
  std::string reason;    ///< empty: nothing is wrong
  std::string sentence;  ///< for people: what was seen, and where
  [[nodiscard]] explicit operator bool() const { return !reason.empty(); }
};

/// What one boot showed of itself.
struct BootEvidence {
  stats::Arm arm = stats::Arm::kBase;
  boot::KnobMap confirmed;
  std::string engine_version;  ///< empty: not reported
};

/// The judged knob's proof has to be there and to say what was asked. A plan without a judged knob has none to show.
[[nodiscard]] VoidCause check_judged_proof(const Plan& plan, stats::Arm arm, const std::vector<boot::Proof>& proofs);
/// No other knob's proof may contradict what was asked; one without evidence does not.
[[nodiscard]] VoidCause check_other_proofs(const Plan& plan, stats::Arm arm, const std::vector<boot::Proof>& proofs);

/// Boots of one arm agree in every confirmed knob; boots of different arms differ in the judged one, where there is
/// one, and in no other; all of them run one engine version.
[[nodiscard]] VoidCause check_boots(const Plan& plan, const std::vector<BootEvidence>& boots);

/// One sample: every request answered, the engine's counters moved forward, no prompt came out of a cache.
[[nodiscard]] VoidCause check_sample(const load::Sample& sample);

/// A whole leg: the engine's counters went forward from before its first request to after its last, the pauses between
/// samples included. Nothing to say where a page was not read.
[[nodiscard]] VoidCause check_counters(const std::string& leg, const std::optional<engine::Counters>& before,
                                       const std::optional<engine::Counters>& after);

/// Looks at every sample on its way to `next`; the first cause stops the leg with kVoid.
class CheckingSink final : public leg::Sink {
 public:
  explicit CheckingSink(leg::Sink& next) : next_(next) {}
  Status sample(const load::Sample& sample) override;
  Status gate(const leg::GateResult& gate) override { return next_.gate(gate); }
  void warn(const std::string& text) override { next_.warn(text); }
  void progress(const std::string& what, int done, int total) override { next_.progress(what, done, total); }
  [[nodiscard]] const VoidCause& cause() const { return cause_; }

 private:
  leg::Sink& next_;
  VoidCause cause_;
};

}  // namespace bk::bracket
