#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "boot/profile.h"

namespace bk::profile_tool {

/// What of a profile that can be read would still disappoint its user. Pure, but for the modules' folders.
struct Findings {
  std::vector<std::string> faults;    ///< the profile cannot be used so
  std::vector<std::string> warnings;  ///< a knob without a proof, say: a bracket over it would be void
};

/// Faults: its defaults break a rule, a knob's value has no way to the engine, a module is missing or its manifest is
/// refused. `modules_dir` is where modules lie.
[[nodiscard]] Findings examine(const boot::Profile& profile, const std::filesystem::path& root_dir,
                               const std::filesystem::path& modules_dir);

}  // namespace bk::profile_tool
