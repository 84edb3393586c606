#include "boot/fleet_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "boot/needs.h"
#include "boot/words.h"
#include "manifest/path.h"

namespace bk::boot {
namespace {

using manifest::printable;

/// Absolute, of the characters that a manifest's paths may have, without "..": it is used in a shell on every node.
Status check_folder(const std::string& key, std::string_view path) {
  const auto fault = path.empty() ? std::optional<std::string>("it is empty") : manifest::root_fault(path);
  if (!fault) return {};
  return fail(Errc::kUsage, fmt::format("{} '{}': {}", key, printable(path), *fault));
}

Status check_characters(const std::string& key, const std::string& value, std::string_view more) {
  const auto odd = std::find_if_not(value.begin(), value.end(), [&](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           more.find(c) != std::string_view::npos;
  });
  if (!value.empty() && odd == value.end() && value.front() != '-') return {};
  return fail(Errc::kUsage, fmt::format("{} is written oddly: '{}'", key, printable(value)));
}

Status take_image_id(Profile& profile, const std::string& value) {
  constexpr std::string_view kHead = "sha256:";
  const std::string_view digits = std::string_view(value).substr(std::min(kHead.size(), value.size()));
  const bool hex = std::all_of(digits.begin(), digits.end(),
                               [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (!value.starts_with(kHead) || digits.size() != 64 || !hex) {
    return fail(Errc::kUsage,
                fmt::format("IMAGE_ID is sha256: and 64 lower-case hex digits, not '{}'", printable(value)));
  }
  profile.image_id = value;
  return {};
}

Status take_mounts(Profile& profile, const std::string& value) {
  for (const std::string_view mount : split(value, ' ')) {
    if (mount.empty()) continue;
    const auto parts = split(mount, ':');
    if (parts.size() != 3 || (parts[2] != "ro" && parts[2] != "rw")) {
      return fail(Errc::kUsage, fmt::format("MOUNTS holds '{}': each is HOST:CONTAINER:ro or :rw", printable(mount)));
    }
    BK_TRY(check_folder("MOUNTS", parts[0]));
    BK_TRY(check_folder("MOUNTS", parts[1]));
    profile.mounts.emplace_back(mount);
  }
  return {};
}

Status take_needs(Profile& profile, const std::string& value) {
  for (const std::string_view path : split(value, ' ')) {
    if (path.empty()) continue;
    BK_TRY(check_rooted("NEEDS", std::string(path)));
    profile.needs.emplace_back(path);
  }
  return {};
}

/// What a boot says itself cannot be said twice: docker and podman refuse a second network, and an engine that is
/// detached, renamed or restarted by others is nobody's.
Status take_container_flags(Profile& profile, const std::string& value) {
  BK_ASSIGN(const auto words, split_words(value));
  for (const std::string& word : words) {
    const std::string flag = word.substr(0, word.find('='));
    // The last --env wins silently, and a volume may hide an overlay: both have settings whose contents are checked.
    for (const auto& [own, setting] :
         {std::pair("--env", "ENV.NAME"), std::pair("--env-file", "ENV.NAME"), std::pair("-e", "ENV.NAME"),
          std::pair("--volume", "MOUNTS"), std::pair("--mount", "MOUNTS"), std::pair("-v", "MOUNTS")}) {
      const bool attached = own[1] != '-' && word.starts_with(own);
      if (flag == own || attached)
        return fail(Errc::kUsage, fmt::format("CONTAINER_FLAGS holds {}: use {} for that", own, setting));
    }
    for (const char* own :
         {"--network", "--net", "--name", "--rm", "--init", "--entrypoint", "--detach", "-d", "--restart"}) {
      if (flag != own) continue;
      return fail(Errc::kUsage, fmt::format("CONTAINER_FLAGS holds {}, which a boot sets itself or cannot have", own));
    }
  }
  profile.container_flags = value;
  return {};
}

Status take_ssh_config(Profile& profile, const std::string& value) {
  BK_TRY(check_rooted("SSH_CONFIG", value));
  profile.ssh_config = value;
  return {};
}

}  // namespace

Status apply_fleet_setting(Profile& profile, const std::string& key, const std::string& value) {
  if (key == "NODES") {
    auto nodes = parse_nodes(value, ' ');
    if (!nodes) return fail(Errc::kUsage, "NODES: " + nodes.error().what);
    profile.nodes = std::move(*nodes);
  }
  if (key == "DEPLOY_DIR") {
    BK_TRY(check_folder(key, value));
    profile.deploy_dir = value;
  }
  if (key == "IMAGE") {
    BK_TRY(check_characters(key, value, "._-/:@"));
    profile.image = value;
  }
  if (key == "SERVED_ALIASES") {
    for (const std::string_view alias : split(value, ' ')) {
      if (!alias.empty()) profile.served_aliases.emplace_back(alias);
    }
  }
  if (key == "WORKER_COMMAND") profile.worker_command = value;
  if (key == "CONTAINER_FLAGS") return take_container_flags(profile, value);
  if (key == "EXCLUSIVE") {
    if (value != "yes" && value != "no") return fail(Errc::kUsage, "EXCLUSIVE is yes or no");
    profile.exclusive = value == "yes";
  }
  if (key == "IMAGE_ID") return take_image_id(profile, value);
  if (key == "MOUNTS") return take_mounts(profile, value);
  if (key == "NEEDS") return take_needs(profile, value);
  if (key == "SSH_CONFIG") return take_ssh_config(profile, value);
  return {};
}

Status check_fleet_settings(const Profile& profile) {
  const bool container = profile.runtime == Runtime::kDocker || profile.runtime == Runtime::kPodman;
  if (container && profile.image.empty()) {
    return fail(Errc::kUsage, fmt::format("RUNTIME={} needs IMAGE", to_string(profile.runtime)));
  }
  if (profile.nodes.empty() && !profile.worker_command.empty()) {
    return fail(Errc::kUsage, "WORKER_COMMAND needs NODES: it starts the ranks after the head");
  }
  if (!profile.nodes.empty() && profile.port == 0) {
    return fail(Errc::kUsage, "NODES needs PORT: a free port of another machine cannot be looked up from here");
  }
  if (!profile.nodes.empty() && profile.runtime == Runtime::kNamespace) {
    return fail(Errc::kUsage, "NODES needs RUNTIME=process, docker or podman");
  }
  for (const std::string& path : profile.needs) {
    if (path_on_node(profile, path).empty())
      return fail(Errc::kUsage, fmt::format("NEEDS holds {}, which lies below no folder of MOUNTS", path));
  }
  if (container) return {};
  for (const auto& [key, set] :
       {std::pair("IMAGE", !profile.image.empty()), std::pair("IMAGE_ID", !profile.image_id.empty()),
        std::pair("MOUNTS", !profile.mounts.empty())}) {
    if (set) return fail(Errc::kUsage, fmt::format("{} needs RUNTIME=docker or podman", key));
  }
  return {};
}

Ssh ssh_of(const Profile& profile, const std::filesystem::path& root_dir) {
  const auto filled = fill(profile.ssh_config, [&](const std::string& name) -> std::optional<std::string> {
    if (name == "ROOT") return root_dir.string();
    return {};
  });
  return {filled.value_or("")};
}

}  // namespace bk::boot
