#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "boot/arm.h"
#include "boot/profile.h"

namespace bk::boot {

/// Where a path that the engine sees lies on its node: below a mount's own folder in a container, itself otherwise.
/// Empty when it lies in the image. Pure.
[[nodiscard]] std::string path_on_node(const Profile& profile, const std::string& path);

/// What has to be on every node before a boot of the arm: NEEDS, and the path of every knob that is a path (`.under`)
/// and is passed; as the node sees them, in this order. Pure.
[[nodiscard]] std::vector<std::string> needed_on_nodes(const Profile& profile, const Arm& arm,
                                                       const std::filesystem::path& root_dir);

/// Whether all of it is on this machine. kEnvironment with the path and what installs the engine.
[[nodiscard]] Status check_needed_here(const Profile& profile, const Arm& arm, const std::filesystem::path& root_dir);

}  // namespace bk::boot
