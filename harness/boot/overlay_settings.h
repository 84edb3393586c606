#pragma once
#include <string>

#include "base/result.h"
#include "boot/profile.h"

namespace bk::boot {

/// Takes MODULES, TARGET_PREFIX or RUNTIME into the profile; other keys are left alone. kUsage for a bad value.
[[nodiscard]] Status apply_overlay_setting(Profile& profile, const std::string& key, const std::string& value);

/// The three belong together: modules need a place and a runtime that can mount them. kUsage.
[[nodiscard]] Status check_overlay_settings(const Profile& profile);

}  // namespace bk::boot
