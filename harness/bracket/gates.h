#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "boot/launcher.h"
#include "bracket/execute.h"
#include "leg/sink.h"

namespace bk::bracket {

/// Every gate in one boot of a profile, outside any bracket: what a night's run asks.
struct GatesPlan {
  boot::KnobMap knobs;                                         ///< set beside the profile's defaults
  std::vector<std::int64_t> contexts = {2048, 32768, 131072};  ///< check-quality
  std::int64_t needle_context = 256'000;                       ///< needle-256k
  int korean_rounds = 2;                                       ///< korean-corruption, eight replies each
  int greedy_tokens = 200;                                     ///< greedy-divergence
  std::uint64_t seed = 7;                                      ///< of the documents
  std::uint64_t boot_seed = 1;                                 ///< {SEED} of the profile's command
};

/// The plan with contexts that a server of this window can hold, and what was left out, one sentence each.
[[nodiscard]] GatesPlan fitted(GatesPlan plan, std::int64_t window, std::vector<std::string>& notes);

struct GateRun {
  leg::GateResult result;
  bool counts = true;  ///< false: nothing to judge by yet, so that a missing answer is none of the engine's doing
  double seconds = 0;
};

struct GatesOutcome {
  std::string boot_uid, model, engine_version;
  double boot_s = 0;
  std::vector<GateRun> gates;
  std::vector<std::string> notes;

  /// Fail when one failed, no answer when one that counts has none, else pass.
  [[nodiscard]] leg::GateVerdict verdict() const;
  /// Whether no request of any gate was answered.
  [[nodiscard]] bool nothing_answered() const;
};

/// Boots, proves the knobs, runs every gate and stores it as it ends, stops the engine. kVoid when a proof contradicts
/// what was asked; kEnvironment when the engine dies in a gate; kInterrupted; what the launcher and the database say.
/// @param run  the program's own row, which the legs name.
[[nodiscard]] Result<GatesOutcome> run_gates(const Tools& tools, const boot::Profile& profile, const GatesPlan& plan,
                                             store::RowId run);

}  // namespace bk::bracket
