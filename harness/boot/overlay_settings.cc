#include "boot/overlay_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "boot/words.h"
#include "manifest/path.h"

namespace bk::boot {
namespace {

constexpr std::pair<const char*, Runtime> kRuntimes[] = {{"process", Runtime::kProcess},
                                                         {"namespace", Runtime::kNamespace},
                                                         {"docker", Runtime::kDocker},
                                                         {"podman", Runtime::kPodman}};

Status take_modules(Profile& profile, const std::string& value) {
  for (const std::string_view name : split(value, ' ')) {
    if (name.empty()) continue;
    if (const auto fault = manifest::module_name_fault(name)) {
      return fail(Errc::kUsage, fmt::format("MODULES holds '{}': {}", manifest::printable(name), *fault));
    }
    if (std::find(profile.modules.begin(), profile.modules.end(), name) != profile.modules.end()) {
      return fail(Errc::kUsage, fmt::format("MODULES names {} twice", name));
    }
    profile.modules.emplace_back(name);
  }
  return {};
}

Status take_prefix(Profile& profile, const std::string& value) {
  BK_TRY(check_rooted("TARGET_PREFIX", value));
  profile.target_prefix = value;
  return {};
}

}  // namespace

Status apply_overlay_setting(Profile& profile, const std::string& key, const std::string& value) {
  if (key == "MODULES") return take_modules(profile, value);
  if (key == "TARGET_PREFIX") return take_prefix(profile, value);
  if (key != "RUNTIME") return {};
  for (const auto& [name, runtime] : kRuntimes) {
    if (value != name) continue;
    profile.runtime = runtime;
    return {};
  }
  return fail(Errc::kUsage, fmt::format("RUNTIME is process, namespace, docker or podman, not '{}'", value));
}

const char* to_string(Runtime runtime) {
  for (const auto& [name, other] : kRuntimes) {
    if (other == runtime) return name;
  }
  return "process";
}

Status check_overlay_settings(const Profile& profile) {
  if (profile.modules.empty()) {
    if (profile.runtime != Runtime::kNamespace) return {};
    return fail(Errc::kUsage, "RUNTIME=namespace mounts overlay modules, and MODULES names none");
  }
  if (profile.target_prefix.empty()) {
    return fail(Errc::kUsage, "MODULES needs TARGET_PREFIX: the package root that the modules' targets lie below");
  }
  if (profile.runtime == Runtime::kProcess) {
    return fail(Errc::kUsage,
                "MODULES needs RUNTIME=namespace, docker or podman: a plain process would run without them");
  }
  return {};
}

}  // namespace bk::boot
