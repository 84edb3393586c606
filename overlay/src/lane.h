#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "boot/profile.h"
#include "cli/app.h"
#include "manifest/compose.h"
#include "manifest/tree.h"

namespace bk::overlay {

/// Which profile's overlay a command is about, and where its modules lie.
struct LaneFlags {
  std::string profile;
  std::string modules_dir;  ///< empty: overlay/modules beside the profile's folder
  void add_to(cli::App& app);
};

/// A profile's modules, composed.
struct Lane {
  boot::Profile profile;
  std::filesystem::path modules_dir;
  manifest::Composition composition;
};

/// kUsage when the profile has no modules; otherwise the errors of load_profile() and compose_profile().
[[nodiscard]] Result<Lane> load_lane(const LaneFlags& flags);
/// <root>/overlay/modules for the profile's folder <root>/profiles.
[[nodiscard]] std::filesystem::path modules_dir_of(const LaneFlags& flags, const boot::Profile& profile);

/// Which installed package to compare with; at most one is given, none means TARGET_PREFIX on this machine.
struct PackageFlags {
  std::string tree, image, wheel, container_image;
  std::string container_cli = "docker";
  void add_to(cli::App& app);
};

/// The package as a tree whose paths are targets below the package root. kUsage when two are named or the place is no
/// folder or wheel; kEnvironment when the package is not on this machine, or no container of the image can be run.
[[nodiscard]] Result<std::unique_ptr<manifest::Tree>> open_package(const PackageFlags& flags, const Lane& lane);

}  // namespace bk::overlay
