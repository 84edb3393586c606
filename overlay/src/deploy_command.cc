#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>

#include "base/clock.h"
#include "base/version.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "commands.h"
#include "compile_check.h"
#include "deployment.h"
#include "git.h"
#include "report/table.h"

namespace bk::overlay {
namespace {

using cli::ExitCode;

Error refused(const NodeState& state, const std::string& what) { return {Errc::kRefused, what, state.node}; }

/// An unnoticed revert of landed work is what this stops.
Status check_lineage(const std::filesystem::path& checkout, const NodeState& state, bool allow_older) {
  if (state.release.empty() || allow_older) return {};
  const char* way = "; --allow-older puts it there all the same";
  if (state.commit.empty()) return fail(refused(state, fmt::format("what is deployed names no commit{}", way)));
  BK_ASSIGN(const Lineage lineage, lineage_of(checkout, state.commit));
  const std::string deployed = state.commit.substr(0, 12);
  switch (lineage) {
    case Lineage::kSame:
    case Lineage::kAncestor:
      return {};
    case Lineage::kNewer:
      return fail(refused(
          state, fmt::format("HEAD is older than the deployed commit {}: update the checkout{}", deployed, way)));
    case Lineage::kApart:
      return fail(
          refused(state, fmt::format("HEAD does not hold the deployed commit {}: merge it first{}", deployed, way)));
    case Lineage::kUnknown:
      break;
  }
  return fail(
      refused(state, fmt::format("the checkout does not know the deployed commit {}: fetch it{}", deployed, way)));
}

/// A clean tree says nothing of files that git ignores, and nothing of modules that lie elsewhere.
Status check_all_committed(const std::filesystem::path& checkout, const Lane& lane) {
  const auto profile = std::filesystem::absolute(lane.profile.path);
  BK_TRY(check_committed(checkout, profile.parent_path(), {profile.filename().string()}));
  std::map<std::string, std::vector<std::string>> names;
  for (const manifest::OwnedRow& owned : lane.composition.rows) {
    if (owned.row.mounts()) names[owned.module].push_back(owned.row.source);
  }
  for (const std::string& module : lane.composition.modules) {
    const auto folder = lane.modules_dir / module;
    std::vector<std::string> files = {"manifest.tsv"};
    if (std::filesystem::exists(folder / "requires")) files.emplace_back("requires");
    files.insert(files.end(), names[module].begin(), names[module].end());
    BK_TRY(check_committed(checkout, folder, files));
  }
  return {};
}

Status check_intact(const NodeState& state) {
  if (state.intact) return {};
  return fail(Errc::kMismatch,
              fmt::format("{} was changed since it was deployed: save that change, then remove the link `current` "
                          "there",
                          state.changed.empty() ? "a file" : state.changed),
              state.node);
}

Json to_json(const Fleet& fleet, const Release& release, const Deployed& deployed, bool dry_run) {
  Json json = Json::object();
  json.set("schema_version", 1).set("tool", "overlay deploy").set("version", version()).set("commit", commit());
  json.set("profile", fleet.profile).set("deployed_commit", release.commit).set("release", release.id);
  json.set("files", release.files).set("changed", deployed.changed).set("dry_run", dry_run);
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  Json nodes = Json::array();
  for (const std::string& name : fleet.nodes) {
    const auto seen = std::find_if(deployed.before.begin(), deployed.before.end(),
                                   [&](const NodeState& state) { return state.node == name; });
    const NodeState state = seen == deployed.before.end() ? NodeState() : *seen;
    Json node = Json::object();
    node.set("node", name).set("former_release", text_or_null(state.release));
    nodes.push(node.set("former_commit", text_or_null(state.commit)));
  }
  return json.set("nodes", std::move(nodes));
}

std::string would_deploy(const Fleet& fleet, const Release& release) {
  return fmt::format("would deploy {} at commit {}, {} files, to {}\n", fleet.profile, release.commit.substr(0, 12),
                     release.files, fmt::join(fleet.nodes, ", "));
}

std::string to_text(const Fleet& fleet, const Release& release, const Deployed& deployed) {
  std::string text;
  for (const NodeState& state : deployed.before) {
    text += fmt::format("{}: {} -> {}\n", state.node,
                        state.release.empty() ? std::string("nothing") : state.release.substr(0, 12),
                        release.id.substr(0, 12));
  }
  return text + fmt::format("{} at commit {}: {} files, {} on {} nodes, SHA-256 equal\n", fleet.profile,
                            release.commit.substr(0, 12), release.files,
                            deployed.changed ? "deployed" : "already there", fleet.nodes.size());
}

}  // namespace

Result<ExitCode> run_deploy(cli::Streams& streams, const Options& options) {
  BK_ASSIGN(const Lane lane, load_lane(options.lane));
  BK_ASSIGN(const Fleet fleet, fleet_of(options.fleet, lane.profile));
  const auto checkout = checkout_of(lane.profile);
  BK_ASSIGN(const std::string commit, clean_commit(checkout));
  BK_TRY(check_all_committed(checkout, lane));
  BK_ASSIGN(const Release release, make_release(lane.composition, commit, wall_now() / kSecond));
  BK_TRY(check_python_compiles(lane.composition, release, options.python));
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, options.common.out));
  Deployed deployed;
  if (options.common.dry_run) {
    output.stream() << (options.common.format == "json" ? to_json(fleet, release, deployed, true).dump(2) + "\n"
                                                        : would_deploy(fleet, release));
    BK_TRY(output.close());
    return ExitCode::kDone;
  }
  const cli::InterruptGuard guard;
  Deployment deployment(
      fleet, release, who_am_i() + fmt::format(" deploying {} at commit {}", fleet.profile, commit.substr(0, 12)),
      [&guard] { return guard.interrupted(); },
      [&streams](const std::string& line) { streams.err << "overlay: " << line << std::endl; });
  BK_ASSIGN(deployed, deployment.run([&](const NodeState& state) -> Status {
    BK_TRY(check_intact(state));
    return check_lineage(checkout, state, options.allow_older);
  }));
  output.stream() << (options.common.format == "json" ? to_json(fleet, release, deployed, false).dump(2) + "\n"
                                                      : to_text(fleet, release, deployed));
  BK_TRY(output.close());
  return ExitCode::kDone;
}

}  // namespace bk::overlay
