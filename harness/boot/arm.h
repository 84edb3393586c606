#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "boot/profile.h"

namespace bk::boot {

/// "GATEFUSE=0,SPEC_TOKENS=5" as a map. kUsage for an empty text, a missing '=', a doubled or an oddly written name.
[[nodiscard]] Result<KnobMap> parse_knobs(std::string_view text);
/// The inverse of parse_knobs(), sorted by name.
[[nodiscard]] std::string format_knobs(const KnobMap& knobs);

/// A profile plus explicit knob values.
struct Arm {
  std::string label;  ///< "base" or "cand"
  KnobMap set;        ///< what the arm sets itself, as Knob::canonical() writes it
  KnobMap resolved;   ///< every knob of the profile: the arm's value, else the caller's, else the profile's default
};

/// kUsage for a knob that the profile does not declare (with a suggestion), a value that it does not allow, or values
/// that break one of its relations together.
[[nodiscard]] Result<Arm> make_arm(const Profile& profile, const std::string& label, const KnobMap& set);

/// The one knob in which the arms differ. kUsage, one line, when they set different knobs, or none or several differ.
[[nodiscard]] Result<std::string> differing_knob(const Arm& base, const Arm& cand);

/// SHA-256 over the profile's canonical text and every resolved knob: what makes one arm's configuration.
[[nodiscard]] std::string arm_hash(const Profile& profile, const Arm& arm);

/// What a template's built-in names stand for in one boot.
struct BootVariables {
  int port = 0;                    ///< {PORT}
  std::uint64_t seed = 1;          ///< {SEED}
  int boot_index = 0;              ///< {BOOT_INDEX}: 0, 1, … in the order of the boots
  std::filesystem::path bin_dir;   ///< {BIN}: where our programs lie
  std::filesystem::path root_dir;  ///< {ROOT}: the directory above the profile's
  int rank = 0;                    ///< {RANK}: 0 is the head; others run the profile's worker command
  int node_count = 1;              ///< {NODE_COUNT}
};

/// argv and added environment of one boot (no key in either). kUsage when the template leaves no program to run.
[[nodiscard]] Result<Command> resolve_command(const Profile& profile, const Arm& arm, const BootVariables& variables);

}  // namespace bk::boot
