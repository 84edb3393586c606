#include "run.h"

#include <algorithm>

#include "cli/app.h"
#include "cli/format.h"
#include "commands.h"

namespace bk::overlay {
namespace {

using cli::Common;

void add_compose(cli::App& app, Options& options) {
  app.description(
      "Checks the profile's modules against each other and writes build/<profile>/: every source, one manifest.tsv and "
      "SHA256SUMS. All or nothing: on any fault nothing is written and an older composition stays.");
  options.lane.add_to(app);
  app.option("--build-dir", options.build_dir, "folder that gets <profile>/").value("DIR");
  options.common.add_to(app, {Common::kOut, Common::kDryRun});
  cli::add_format(app, options.common, {"table", "json"});
  app.example("overlay compose llama-cpp-overlay", "writes build/llama-cpp-overlay/");
}

void add_verify(cli::App& app, Options& options) {
  app.description(
      "Compares every pinned preimage, and every target that must be absent, with a package as it was installed. Exit "
      "code 1 when a row does not fit.");
  options.lane.add_to(app);
  options.package.add_to(app);
  options.common.add_to(app, {Common::kOut});
  cli::add_format(app, options.common, {"table", "json"});
  app.example("overlay verify llama-cpp-overlay --wheel xllamacpp.whl", "against a wheel, without unpacking it");
}

void add_diff(cli::App& app, Options& options) {
  app.description("Shows, file by file, what the overlay changes in a package, as unified diffs.");
  options.lane.add_to(app);
  options.package.add_to(app);
  options.common.add_to(app, {Common::kOut});
  cli::add_format(app, options.common, {"table", "json"});
}

void add_list(cli::App& app, Options& options) {
  app.description("Shows every row of the profile's modules.");
  options.lane.add_to(app);
  options.common.add_to(app, {Common::kOut});
  cli::add_format(app, options.common, {"table", "json"});
}

void add_audit(cli::App& app, Options& options) {
  app.description(
      "Searches sources, below a folder or in a running container, for seven guards against reads and writes out of "
      "bounds. PASS: it stands there as often as it must. FAIL: the file is there without it. UNKNOWN: no such file, "
      "which is never a PASS. A text "
      "search, not a proof. Exit code: 1 when one fails, else 4 when one is unknown.");
  app.option("--root", options.audit_root, "folder of the deployed sources").value("DIR").no_default();
  app.option("--container", options.audit_container,
             "running container: its own Python looks for the sources, mounted ones too; nothing is changed there")
      .value("NAME")
      .no_default();
  app.option("--runtime", options.container_cli, "command line that reaches the container")
      .choices({"docker", "podman"});
  app.flag("--self-test", options.self_test, "check the rules themselves on good and broken samples");
  options.common.add_to(app, {Common::kOut});
  cli::add_format(app, options.common, {"table", "json"});
  app.example("overlay audit --container bracketkit-dsv4-0", "what the engine of the lane dsv4 runs with");
  app.example("overlay audit --root /opt/venv/lib/python3.12/site-packages/vllm", "an installed package");
}

void add_deploy(cli::App& app, Options& options) {
  app.description(
      "Puts the profile's composed overlay on every node over OpenSSH, or on none. The checkout has to be clean, and "
      "to hold the commit that is deployed; every Python file has to compile. Every node unpacks beside what it has "
      "and hashes; only when all hash texts are equal, byte for byte, does the new release become the deployed one. On "
      "any failure, also when this program is killed, every node goes back to its former release. Exit code: 1 when "
      "bytes differ, 2 when refused, 3 when a node cannot be reached or is locked. Engines that run keep their files: "
      "restarting them is a separate act.");
  options.lane.add_to(app);
  options.fleet.add_to(app);
  app.option("--python", options.python, "interpreter with which every Python file has to compile").value("PROGRAM");
  app.flag("--allow-older", options.allow_older, "deploy although the nodes have a commit that HEAD does not hold");
  options.common.add_to(app, {Common::kOut, Common::kDryRun});
  cli::add_format(app, options.common, {"table", "json"});
  app.example("overlay deploy vllm-h200 --nodes h1,h2,h3,h4", "to four machines, the head first");
}

void add_status(cli::App& app, Options& options) {
  app.description(
      "Shows which node has which release, whether its files still are what was deployed, and which lane runs there. "
      "Changes nothing. Exit code: 1 when nodes differ, a file was changed or a deploy did not end; else 4 when a node "
      "did not answer; 3 when none did.");
  options.lane.add_to(app);
  options.fleet.add_to(app);
  options.common.add_to(app, {Common::kOut});
  cli::add_format(app, options.common, {"table", "json"});
}

void add_enter(cli::App& app, Options& options) {
  app.description(
      "What a boot with RUNTIME=namespace puts before the engine's command: mounts laid out files read-only over a "
      "package in a mount namespace of its own, reads them back, and becomes the program after --.");
  app.option("--laid-out", options.laid_out, "folder with tree/ and targets").value("DIR").no_default().required();
  app.option("--package", options.mounted_package, "package root to mount over").value("DIR").no_default().required();
}

/// What follows "--" belongs to the engine: it is cut off before flags are read.
cli::Args cut_engine(const cli::Args& args, Options& options) {
  if (args.empty() || args.front() != "enter") return args;
  const auto dashes = std::find(args.begin(), args.end(), "--");
  if (dashes != args.end()) options.engine.assign(dashes + 1, args.end());
  return {args.begin(), dashes};
}

}  // namespace

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app("overlay", "Composes, verifies and shows patched files for a third-party package");
  add_compose(app.subcommand("compose", "write a profile's modules as one tree"), options);
  add_verify(app.subcommand("verify", "compare the modules' pins with a package"), options);
  add_diff(app.subcommand("diff", "show what the modules change"), options);
  add_list(app.subcommand("list", "show the modules' rows"), options);
  add_audit(app.subcommand("audit", "search sources for seven guards"), options);
  add_deploy(app.subcommand("deploy", "put a profile's overlay on all nodes or on none"), options);
  add_status(app.subcommand("status", "show which node has what"), options);
  add_enter(app.subcommand("enter", "mount an overlay and become a program"), options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, cut_engine(args, options)));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  if (app.chosen() == "compose") return run_compose(streams, options);
  if (app.chosen() == "verify") return run_verify(streams, options);
  if (app.chosen() == "diff") return run_diff(streams, options);
  if (app.chosen() == "audit") return run_audit(streams, options);
  if (app.chosen() == "deploy") return run_deploy(streams, options);
  if (app.chosen() == "status") return run_status(streams, options);
  if (app.chosen() == "list") return run_list(streams, options);
  return run_enter(streams, options);
}

}  // namespace bk::overlay
