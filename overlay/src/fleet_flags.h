#pragma once
#include <string>

#include "cli/app.h"
#include "deployment.h"
#include "lane.h"

namespace bk::overlay {

/// Which nodes a command is about.
struct FleetFlags {
  std::string nodes;  ///< comma-separated; empty: the profile's NODES
  void add_to(cli::App& app);
};

/// The lane's nodes. kUsage when neither the flag nor the profile names one.
[[nodiscard]] Result<Fleet> fleet_of(const FleetFlags& flags, const boot::Profile& profile);

/// "user@host pid 4711 since 2026-11-30T00:00:00Z": who a lock names.
[[nodiscard]] std::string who_am_i();

/// The checkout that the profile lies in.
[[nodiscard]] std::filesystem::path checkout_of(const boot::Profile& profile);

}  // namespace bk::overlay
