#include "lane.h"

#include <fmt/format.h>

#include <set>
#include <system_error>

#include "boot/overlay.h"
#include "image_tree.h"
#include "manifest/directory_tree.h"
#include "wheel_tree.h"

namespace bk::overlay {
namespace {

namespace fs = std::filesystem;

fs::path root_of(const boot::Profile& profile) { return fs::absolute(profile.path).parent_path().parent_path(); }

Status must_be_folder(const fs::path& path, Errc code, const std::string& what) {
  std::error_code error;
  if (fs::is_directory(path, error)) return {};
  return fail(code, what, path.string());
}

}  // namespace

void LaneFlags::add_to(cli::App& app) {
  app.positional("PROFILE", profile, "profile by name or path").required();
  app.option("--modules-dir", modules_dir,
             "folder that holds the modules; default: overlay/modules of the profile's tree")
      .value("DIR")
      .no_default();
}

fs::path modules_dir_of(const LaneFlags& flags, const boot::Profile& profile) {
  return flags.modules_dir.empty() ? root_of(profile) / "overlay/modules" : fs::path(flags.modules_dir);
}

Result<Lane> load_lane(const LaneFlags& flags) {
  Lane lane;
  BK_ASSIGN(lane.profile, boot::load_profile(flags.profile, boot::default_profile_dir(), boot::caller_environment()));
  if (lane.profile.modules.empty()) {
    return fail(Errc::kUsage, fmt::format("profile {} has no overlay: it sets no MODULES", lane.profile.name),
                lane.profile.path.string());
  }
  lane.modules_dir = modules_dir_of(flags, lane.profile);
  BK_ASSIGN(lane.composition, boot::compose_profile(lane.profile, root_of(lane.profile), lane.modules_dir));
  return lane;
}

void PackageFlags::add_to(cli::App& app) {
  app.option("--tree", tree, "folder that stands for the package root").value("DIR").no_default();
  app.option("--image", image, "unpacked image: the package root lies below it").value("DIR").no_default();
  app.option("--container-image", container_image, "container image, looked at in a throwaway container without mounts")
      .value("IMAGE")
      .no_default();
  app.option("--runtime", container_cli, "command line that runs the container").choices({"docker", "podman"});
  app.option("--wheel", wheel, "wheel file, read without unpacking it").value("FILE").no_default();
}

Result<std::unique_ptr<manifest::Tree>> open_package(const PackageFlags& flags, const Lane& lane) {
  const int given = static_cast<int>(!flags.tree.empty()) + static_cast<int>(!flags.image.empty()) +
                    static_cast<int>(!flags.wheel.empty()) + static_cast<int>(!flags.container_image.empty());
  if (given > 1) return fail(Errc::kUsage, "name one package: --tree, --image, --container-image or --wheel");
  std::set<std::string> wanted;
  for (const manifest::OwnedRow& owned : lane.composition.rows) wanted.insert(owned.row.target);
  if (!flags.container_image.empty()) {
    const auto cli = flags.container_cli == "docker" ? boot::Runtime::kDocker : boot::Runtime::kPodman;
    BK_ASSIGN(auto image, ImageTree::open(cli, flags.container_image, lane.composition.root, wanted));
    return std::unique_ptr<manifest::Tree>(std::move(image));
  }
  if (!flags.wheel.empty()) {
    BK_ASSIGN(auto wheel, WheelTree::open(flags.wheel, fs::path(lane.composition.root).filename().string(), wanted));
    return std::unique_ptr<manifest::Tree>(std::move(wheel));
  }
  fs::path folder = lane.composition.root;
  if (!flags.tree.empty()) folder = flags.tree;
  if (!flags.image.empty()) folder = fs::path(flags.image) / fs::path(lane.composition.root).relative_path();
  BK_TRY(must_be_folder(
      folder, given == 0 ? Errc::kEnvironment : Errc::kUsage,
      given == 0 ? "the package is not on this machine: name it by --tree, --image, --container-image or --wheel"
                 : "no such folder"));
  return std::unique_ptr<manifest::Tree>(std::make_unique<manifest::DirectoryTree>(folder));
}

}  // namespace bk::overlay
