#pragma once
#include <filesystem>
#include <string>

#include "base/result.h"
#include "boot/profile.h"
#include "boot/ssh.h"

namespace bk::boot {

/// Takes IMAGE, IMAGE_ID, MOUNTS, NEEDS, NODES, DEPLOY_DIR, SSH_CONFIG or EXCLUSIVE into the profile; other keys are
/// left alone. kUsage for a bad value.
[[nodiscard]] Status apply_fleet_setting(Profile& profile, const std::string& key, const std::string& value);

/// A container runtime and an image belong together. kUsage.
[[nodiscard]] Status check_fleet_settings(const Profile& profile);

/// How the profile's nodes are reached, {ROOT} filled.
[[nodiscard]] Ssh ssh_of(const Profile& profile, const std::filesystem::path& root_dir);

}  // namespace bk::boot
