#include "fleet_flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"
#include "boot/fleet_settings.h"
#include "boot/run_lock.h"

namespace bk::overlay {

namespace fs = std::filesystem;

void FleetFlags::add_to(cli::App& app) {
  app.option("--nodes", nodes, "ssh destinations, the head first; default: the profile's NODES")
      .value("A,B,…")
      .no_default();
}

fs::path checkout_of(const boot::Profile& profile) { return fs::absolute(profile.path).parent_path().parent_path(); }

Result<Fleet> fleet_of(const FleetFlags& flags, const boot::Profile& profile) {
  Fleet fleet;
  fleet.nodes = profile.nodes;
  if (!flags.nodes.empty()) {
    auto nodes = boot::parse_nodes(flags.nodes, ',');
    if (!nodes) return fail(Errc::kUsage, nodes.error().what, "--nodes");
    fleet.nodes = std::move(*nodes);
  }
  if (fleet.nodes.empty()) {
    return fail(Errc::kUsage, "no node is named: give --nodes, or set NODES in the profile", profile.path.string());
  }
  fleet.ssh = boot::ssh_of(profile, checkout_of(profile));
  fleet.deploy_dir = profile.deploy_dir;
  fleet.profile = profile.name;
  fleet.run_lock = boot::run_lock_file(boot::kRunLockDir).string();
  return fleet;
}

std::string who_am_i() {
  return fmt::format("{}@{} pid {} since {}", boot::user_name(), boot::host_name(), getpid(), format_utc(wall_now()));
}

}  // namespace bk::overlay
