#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>

#include "base/text.h"
#include "base/version.h"
#include "boot/run_lock.h"
#include "cli/output.h"
#include "commands.h"
#include "deployment.h"
#include "report/table.h"

namespace bk::overlay {
namespace {

using cli::ExitCode;

/// A node that answered, or why not.
struct Seen {
  NodeState state;
  std::string fault;  ///< empty: it answered
};

Result<std::vector<Seen>> look(const Fleet& fleet) {
  BK_ASSIGN(const auto sessions, open_sessions(fleet, who_am_i() + " status"));
  std::vector<boot::Session*> all;
  all.reserve(sessions.size());
  for (const auto& session : sessions) all.push_back(session.get());
  constexpr Nanos kLimit = 60 * kSecond;
  const auto answers = boot::ask(all, std::vector<std::string>(all.size(), "look\n"), kLimit);
  std::vector<Seen> seen;
  seen.reserve(answers.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i]) {
      seen.push_back({read_state(fleet.nodes[i], *answers[i]), ""});
    } else {
      NodeState state;
      state.node = fleet.nodes[i];
      seen.push_back({std::move(state), answers[i].error().what});
    }
  }
  return seen;
}

std::string release_text(const NodeState& state) {
  return state.release.empty() ? "none" : state.release.substr(0, 12);
}

/// What is wrong with one node; empty: nothing.
std::string fault_of(const Seen& one) {
  if (!one.fault.empty()) return "no answer: " + one.fault;
  const NodeState& state = one.state;
  if (!state.intact) {
    return state.changed.empty() ? "holds files that were not deployed" : state.changed + " was changed there";
  }
  if (!state.pending.empty() && state.deploying.empty()) return "a deploy did not end; the next one rolls it back";
  return {};
}

/// The nodes by what they have, one sentence; empty when all that answered have the same.
std::string skew_of(const std::vector<Seen>& seen) {
  std::map<std::string, std::vector<std::string>> by_release;
  for (const Seen& one : seen) {
    if (one.fault.empty()) by_release[release_text(one.state)].push_back(one.state.node);
  }
  if (by_release.size() < 2) return {};
  std::vector<std::string> parts;
  parts.reserve(by_release.size());
  for (const auto& [release, nodes] : by_release) parts.push_back(fmt::format("{} on {}", release, join(nodes, ", ")));
  return "skew: " + join(parts, "; ");
}

std::string lane_of(const NodeState& state) {
  if (state.run.empty()) return "none";
  return boot::read_holder(join(state.run, "\n")).sentence();
}

ExitCode exit_of(const std::vector<Seen>& seen) {
  const auto silent = std::count_if(seen.begin(), seen.end(), [](const Seen& one) { return !one.fault.empty(); });
  if (silent == static_cast<std::ptrdiff_t>(seen.size())) return ExitCode::kEnvironment;
  const bool bad = std::any_of(seen.begin(), seen.end(),
                               [](const Seen& one) { return one.fault.empty() && !fault_of(one).empty(); });
  if (bad || !skew_of(seen).empty()) return ExitCode::kFailed;
  return silent > 0 ? ExitCode::kInconclusive : ExitCode::kDone;
}

Json optional_text(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json to_json(const Fleet& fleet, const std::vector<Seen>& seen) {
  Json json = Json::object();
  json.set("schema_version", 1).set("tool", "overlay status").set("version", version()).set("commit", commit());
  json.set("profile", fleet.profile).set("skew", optional_text(skew_of(seen)));
  Json nodes = Json::array();
  for (const Seen& one : seen) {
    const NodeState& state = one.state;
    Json node = Json::object();
    node.set("node", state.node).set("answered", one.fault.empty()).set("release", optional_text(state.release));
    node.set("deployed_commit", optional_text(state.commit));
    node.set("intact", one.fault.empty() && !state.release.empty() ? Json(state.intact) : Json());
    node.set("unfinished_release", optional_text(state.pending)).set("deploying", optional_text(state.deploying));
    node.set("lane", state.run.empty() ? Json() : Json(lane_of(state)));
    nodes.push(node.set("fault", optional_text(fault_of(one))));
  }
  return json.set("nodes", std::move(nodes));
}

std::string to_text(const std::vector<Seen>& seen) {
  std::vector<std::vector<std::string>> rows;
  rows.reserve(seen.size());
  std::string notes;
  for (const Seen& one : seen) {
    const NodeState& state = one.state;
    if (!one.fault.empty()) {
      rows.push_back({state.node, "-", "-", "-", "unknown"});
    } else {
      const std::string kept = state.release.empty() ? "-" : state.intact ? "intact" : "CHANGED";
      rows.push_back({state.node, release_text(state), state.commit.substr(0, 12), kept, lane_of(state)});
    }
    if (const std::string fault = fault_of(one); !fault.empty()) notes += fmt::format("{}: {}\n", state.node, fault);
    if (!state.deploying.empty()) notes += fmt::format("{}: a deploy runs: {}\n", state.node, state.deploying);
  }
  if (const std::string skew = skew_of(seen); !skew.empty()) notes += skew + "\n";
  return report::table({"node", "release", "commit", "files", "lane"}, std::vector(5, report::Align::kLeft), rows) +
         notes;
}

}  // namespace

Result<ExitCode> run_status(cli::Streams& streams, const Options& options) {
  BK_ASSIGN(const boot::Profile profile,
            boot::load_profile(options.lane.profile, boot::default_profile_dir(), boot::caller_environment()));
  BK_ASSIGN(const Fleet fleet, fleet_of(options.fleet, profile));
  BK_ASSIGN(const auto seen, look(fleet));
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, options.common.out));
  output.stream() << (options.common.format == "json" ? to_json(fleet, seen).dump(2) + "\n" : to_text(seen));
  BK_TRY(output.close());
  return exit_of(seen);
}

}  // namespace bk::overlay
