#include "deployment.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "manifest/path.h"
#include "node_script.h"

namespace bk::overlay {
namespace {

using boot::Session;
using Lines = std::vector<std::string>;

constexpr Nanos kPhaseLimit = 300 * kSecond;
constexpr Nanos kConnectLimit = 20 * kSecond;

std::map<std::string, std::string> by_name(const std::vector<std::string_view>& lines) {
  std::map<std::string, std::string> hashes;
  for (const std::string_view line : lines) {
    const std::size_t gap = line.find("  ");
    if (gap != std::string_view::npos) hashes.emplace(line.substr(gap + 2), line.substr(0, gap));
  }
  return hashes;
}

/// The first name whose hash differs between two hash lists, in words.
std::string first_difference(const std::string& meant, const std::string& seen) {
  const auto want = by_name(split_lines(meant));
  const auto have = by_name(split_lines(seen));
  for (const auto& [name, hash] : want) {
    const auto found = have.find(name);
    if (found == have.end()) return name + " is missing";
    if (found->second != hash) return fmt::format("{} has SHA-256 {}, not {}", name, found->second, hash);
  }
  for (const auto& [name, hash] : have) {
    if (!want.contains(name)) return manifest::printable(name) + " is there too";
  }
  return "the lists differ in order";
}

}  // namespace

NodeState read_state(const std::string& node, const Lines& lines) {
  NodeState state;
  state.node = node;
  for (const std::string& line : lines) {
    const std::size_t gap = line.find(' ');
    const std::string key = line.substr(0, gap);
    const std::string value = gap == std::string::npos ? "" : manifest::printable(line.substr(gap + 1));
    if (key == "release" && value != "none") state.release = value;
    if (key == "commit") state.commit = value;
    if (key == "changed") {
      state.intact = false;
      state.changed = value;
    }
    if (key == "pending") state.pending = value;
    if (key == "deploying") state.deploying = value.empty() ? "somebody" : value;
    if (key == "run") state.run.push_back(value);
  }
  return state;
}

Result<std::vector<std::unique_ptr<Session>>> open_sessions(const Fleet& fleet, const std::string& who) {
  std::vector<std::unique_ptr<Session>> sessions;
  sessions.reserve(fleet.nodes.size());
  for (const std::string& node : fleet.nodes) {
    const auto argv =
        boot::ssh_argv(fleet.ssh, node, node_script(), {fleet.deploy_dir, fleet.profile, fleet.run_lock, who});
    BK_ASSIGN(auto session, Session::open(node, argv));
    sessions.push_back(std::move(session));
  }
  return sessions;
}

std::vector<Session*> Deployment::all() const {
  std::vector<Session*> list;
  list.reserve(sessions_.size());
  for (const auto& session : sessions_) list.push_back(session.get());
  return list;
}

/// One request to all; the first failure in the order of the nodes, the others' number beside it.
Status Deployment::each(const std::vector<Session*>& sessions, const std::string& request, const Check& check) {
  const Nanos limit = request == "look\n" ? kConnectLimit : kPhaseLimit;
  const auto answers = boot::ask(sessions, Lines(sessions.size(), request), limit, interrupted_);
  std::optional<Error> first;
  int others = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Status status = answers[i] ? check(sessions[i]->node(), *answers[i]) : Status(fail(answers[i].error()));
    if (status) continue;
    if (first) ++others;
    if (!first) first = status.error();
  }
  if (!first) return {};
  if (first->code == Errc::kRefused) first->code = Errc::kEnvironment;  // a node's "no": no flag would help
  if (others > 0) first->what += fmt::format("; and {} more nodes", others);
  if (first->where.empty()) first->where = "all nodes";
  return fail(*first);
}

Status Deployment::lock_all() {
  std::vector<Session*> others = all();
  const auto first = std::min_element(others.begin(), others.end(),
                                      [](const Session* a, const Session* b) { return a->node() < b->node(); });
  const std::vector<Session*> alone = {*first};
  others.erase(first);
  const auto keep = [&](const std::string& node, const Lines& lines) -> Status {
    done_.before.push_back(read_state(node, lines));
    if (std::find(lines.begin(), lines.end(), "recovered") != lines.end()) {
      note_(node + ": an unfinished older deploy was rolled back");
    }
    return {};
  };
  BK_TRY(each(alone, "lock\n", keep));
  if (others.empty()) return {};
  return each(others, "lock\n", keep);
}

Status Deployment::same_hashes(const std::string& node, const Lines& lines, const char* when) const {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  if (text == release_.hash_text) return {};
  return fail(Errc::kMismatch, fmt::format("{} {}", when, first_difference(release_.hash_text, text)), node);
}

Status Deployment::put_everywhere() {
  note_(fmt::format("copying {} files to {} nodes", release_.files, sessions_.size()));
  const std::string stage = fmt::format("stage {} {}\n{}", release_.id, release_.tar.size(), release_.tar);
  BK_TRY(each(all(), stage,
              [this](const std::string& node, const Lines& lines) { return same_hashes(node, lines, "as copied,"); }));
  note_("all copies are equal; activating");
  return each(all(), fmt::format("activate {}\n", release_.id),
              [this](const std::string& node, const Lines& lines) { return same_hashes(node, lines, "as deployed,"); });
}

/// A node that is lost here may have committed: the others are told to go back, and the error says to look.
Status Deployment::commit_everywhere() {
  std::vector<Session*> committed;
  const Status status = each(all(), "commit\n", [&](const std::string& node, const Lines&) -> Status {
    for (const auto& session : sessions_) {
      if (session->node() == node) committed.push_back(session.get());
    }
    return {};
  });
  if (status) return each(all(), "done\n", [](const std::string&, const Lines&) -> Status { return {}; });
  (void)boot::ask(committed, Lines(committed.size(), "revert\n"), kPhaseLimit);
  Error error = status.error();
  error.what += "; it may have kept the new release: run overlay status";
  return fail(error);
}

/// Ends every session, upon which each node puts itself back, and says which ones did not confirm it.
Error Deployment::undo(Error error) {
  std::vector<std::string> silent;
  for (const auto& session : sessions_) (void)session->finish(0);  // all put themselves in order at once
  for (const auto& session : sessions_) {
    const auto exit = session->finish(30 * kSecond);
    const bool in_order = exit && exit->code != 5 && exit->code != 255 && exit->code < 128;
    if (!in_order && !done_.before.empty()) silent.push_back(session->node());
  }
  if (done_.before.empty()) {
    error.what += "; nothing was changed on any node";
  } else if (silent.empty()) {
    error.what += "; every node has its former release";
  } else {
    error.what +=
        fmt::format("; {} did not confirm that the former release is back: run overlay status", join(silent, ", "));
  }
  return error;
}

Result<Deployed> Deployment::run(const Allow& allow) {
  BK_ASSIGN(sessions_, open_sessions(fleet_, who_));
  const auto body = [&]() -> Status {
    BK_TRY(each(all(), "look\n", [](const std::string&, const Lines&) -> Status { return {}; }));
    BK_TRY(lock_all());
    done_.changed = false;
    for (const NodeState& state : done_.before) {
      BK_TRY(allow(state));
      done_.changed = done_.changed || state.release != release_.id || !state.intact;
    }
    if (!done_.changed) return {};
    BK_TRY(put_everywhere());
    return commit_everywhere();
  };
  if (const Status status = body(); !status) return fail(undo(status.error()));
  return std::move(done_);
}

}  // namespace bk::overlay
