#include "boot/needs.h"

#include <system_error>

#include "base/text.h"
#include "boot/words.h"

namespace bk::boot {

namespace fs = std::filesystem;

std::string path_on_node(const Profile& profile, const std::string& path) {
  if (profile.runtime != Runtime::kDocker && profile.runtime != Runtime::kPodman) return path;
  std::string_view folder, below;  // of the mount that lies deepest
  for (const std::string& mount : profile.mounts) {
    const auto parts = split(mount, ':');
    const bool inside = path == parts[1] || path.starts_with(std::string(parts[1]) + "/");
    if (!inside || parts[1].size() < below.size()) continue;
    folder = parts[0];
    below = parts[1];
  }
  return folder.empty() ? std::string() : std::string(folder) + path.substr(below.size());
}

std::vector<std::string> needed_on_nodes(const Profile& profile, const Arm& arm, const fs::path& root_dir) {
  std::vector<std::string> paths;
  for (const std::string& need : profile.needs) {
    const auto filled = fill(need, [&](const std::string& name) -> std::optional<std::string> {
      if (name == "ROOT") return root_dir.string();
      return {};
    });
    paths.push_back(path_on_node(profile, filled.value_or(need)));
  }
  for (const Knob& knob : profile.knobs) {
    if (knob.under.empty() || !knob.active(arm.resolved)) continue;
    const std::string path = path_on_node(profile, arm.resolved.at(knob.name));
    if (!path.empty()) paths.push_back(path);
  }
  return paths;
}

Status check_needed_here(const Profile& profile, const Arm& arm, const fs::path& root_dir) {
  for (const std::string& path : needed_on_nodes(profile, arm, root_dir)) {
    std::error_code error;
    if (fs::exists(path, error)) continue;
    return fail(Errc::kEnvironment,
                "the engine needs it, and it is not there" + (profile.install.empty() ? "" : "; " + profile.install),
                path);
  }
  return {};
}

}  // namespace bk::boot
