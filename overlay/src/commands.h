#pragma once
#include <string>
#include <vector>

#include "cli/common_flags.h"
#include "cli/run_main.h"
#include "fleet_flags.h"
#include "lane.h"

namespace bk::overlay {

/// All flags of all commands.
struct Options {
  LaneFlags lane;
  PackageFlags package;
  FleetFlags fleet;
  cli::CommonFlags common;
  std::string build_dir = "build";
  std::string laid_out;         ///< enter: what boot::lay_out() made
  std::string mounted_package;  ///< enter: over which package it goes
  std::string audit_root;
  std::string audit_container;           ///< audit: a running container instead of a folder
  std::string container_cli = "docker";  ///< audit
  bool allow_older = false;              ///< deploy
  std::string python = "python3";        ///< deploy: compiles the Python files
  bool self_test = false;                ///< audit
  std::vector<std::string> engine;       ///< enter: the program to become, and its arguments
};

[[nodiscard]] Result<cli::ExitCode> run_compose(cli::Streams& streams, const Options& options);
[[nodiscard]] Result<cli::ExitCode> run_verify(cli::Streams& streams, const Options& options);
[[nodiscard]] Result<cli::ExitCode> run_diff(cli::Streams& streams, const Options& options);
[[nodiscard]] Result<cli::ExitCode> run_list(cli::Streams& streams, const Options& options);
[[nodiscard]] Result<cli::ExitCode> run_audit(cli::Streams& streams, const Options& options);
[[nodiscard]] Result<cli::ExitCode> run_deploy(cli::Streams& streams, const Options& options);
[[nodiscard]] Result<cli::ExitCode> run_status(cli::Streams& streams, const Options& options);
/// Returns only when the engine could not be started.
[[nodiscard]] Result<cli::ExitCode> run_enter(cli::Streams& streams, const Options& options);

}  // namespace bk::overlay
