#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "boot/profile.h"

namespace bk::boot {

/// Gates that a bracket can run in each boot.
[[nodiscard]] const std::vector<std::string>& gate_names();
/// Names of gates, separated by `between`. kUsage for one that is unknown or stands twice.
[[nodiscard]] Result<std::vector<std::string>> parse_gates(std::string_view text, char between);

/// What a profile says of the legs in a boot: GATES and FOREIGN_LOAD_MAX; other keys are left alone.
[[nodiscard]] Status apply_leg_setting(Profile& profile, const std::string& key, const std::string& value);

}  // namespace bk::boot
