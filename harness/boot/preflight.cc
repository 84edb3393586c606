#include "boot/preflight.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "boot/container.h"
#include "boot/fleet_settings.h"
#include "boot/node_agent.h"
#include "boot/overlay.h"
#include "boot/run_lock.h"

namespace bk::boot {
namespace {

using Lines = std::vector<std::string>;
constexpr Nanos kLimit = 300 * kSecond;

/// The rest of the lines that start with "<key> ".
Lines values_of(const Lines& lines, const std::string& key) {
  Lines values;
  for (const std::string& line : lines) {
    if (line.starts_with(key + " ")) values.push_back(line.substr(key.size() + 1));
  }
  return values;
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string run_request(const std::vector<std::string>& argv) { return "run 1\n" + shell_quote(argv) + "\n"; }

}  // namespace

std::string attestation_fault(const std::vector<manifest::Row>& rows, const std::string& root, const Lines& lines) {
  std::map<std::string, std::string> found;
  for (const std::string& line : lines) {
    const std::size_t gap = line.find("  ");
    if (gap != std::string::npos) found[line.substr(gap + 2)] = line.substr(0, gap);
  }
  for (const manifest::Row& row : rows) {
    const auto seen = found.find(root + "/" + row.target);
    const std::string what = seen == found.end() ? "unread" : seen->second;
    const std::string wanted = row.preimage.empty() ? "absent" : row.preimage;
    if (what != wanted)
      return fmt::format("row {}: {} is {} in the image, pinned is {}", row.line, row.target, what, wanted);
  }
  return {};
}

bool Preflight::in_container() const {
  return profile_.runtime == Runtime::kDocker || profile_.runtime == Runtime::kPodman;
}

Status Preflight::open() {
  nodes_ = profile_.nodes.empty() ? Lines{kLocalNode} : profile_.nodes;
  const Ssh ssh = ssh_of(profile_, root_dir_);
  const std::string home = profile_.modules.empty() ? "" : profile_.deploy_dir + "/" + profile_.name;
  for (const std::string& node : nodes_) {
    const std::filesystem::path dir = node == kLocalNode ? run_lock_dir() : kRunLockDir;
    const std::string lock = profile_.exclusive ? run_lock_file(dir).string() : "";
    const auto argv =
        ssh_argv(ssh, node, keeper_script(), {lock, profile_.name, user_name() + "@" + host_name(), home});
    BK_ASSIGN(auto session, Session::open(node, argv));
    sessions_.push_back(std::move(session));
  }
  return {};
}

/// One request to all nodes; the first failure in their order.
Result<std::vector<Answer>> Preflight::all(const std::string& request) {
  std::vector<Session*> sessions;
  sessions.reserve(sessions_.size());
  for (const auto& session : sessions_) sessions.push_back(session.get());
  auto answers = ask(sessions, Lines(sessions.size(), request), kLimit, interrupted_);
  for (const Answer& answer : answers) {
    if (answer) continue;
    Error error = answer.error();
    if (error.code == Errc::kRefused) error.code = Errc::kEnvironment;
    return fail(std::move(error));
  }
  return answers;
}

Result<Lines> Preflight::head(const std::string& request) {
  auto answers = ask({sessions_.front().get()}, {request}, kLimit, interrupted_);
  if (answers.front()) return std::move(*answers.front());
  Error error = answers.front().error();
  if (error.code == Errc::kRefused) error.code = Errc::kEnvironment;
  return fail(std::move(error));
}

Status Preflight::check_image() {
  if (!in_container()) return {};
  BK_ASSIGN(const auto answers, all(run_request(image_id_argv(profile_.runtime, profile_.image))));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Lines ids = values_of(*answers[i], "out");
    const std::string id = ids.size() == 1 ? std::string(trim(ids.front())) : "";
    if (i == 0) checked_.image_id = id;
    const std::string wanted = profile_.image_id.empty() ? checked_.image_id : profile_.image_id;
    if (!id.empty() && id == wanted) continue;
    return fail(Errc::kMismatch,
                fmt::format("image {} is {}, {} is {}", profile_.image, id.empty() ? "nothing that has an id" : id,
                            profile_.image_id.empty() ? "the head's" : "IMAGE_ID", wanted),
                nodes_[i]);
  }
  return {};
}

Status Preflight::attest() {
  if (!in_container() || checked_.overlay.empty()) return {};
  const std::string root = package_of(profile_, root_dir_).string();
  Lines words;
  words.reserve(checked_.overlay.size());
  for (const manifest::Row& row : checked_.overlay) words.push_back(shell_quote({root + "/" + row.target}));
  const std::string line =
      "printf '%s\\n' " + join(words, " ") + " | " + shell_quote(attest_argv(profile_.runtime, profile_.image));
  // `run` gives its command no input: the pipe inside does.
  BK_ASSIGN(const Lines lines, head("run 1\n" + line + "\n"));
  const std::string fault = attestation_fault(checked_.overlay, root, values_of(lines, "out"));
  if (fault.empty()) return {};
  return fail(Errc::kMismatch, fmt::format("image {} does not fit the overlay: {}", profile_.image, fault), nodes_[0]);
}

Status Preflight::check_overlay() {
  for (std::size_t i = 0; i < hash_texts_.size(); ++i) {
    if (hash_texts_[i] == hash_texts_.front()) continue;
    return fail(Errc::kMismatch,
                "the deployed overlay differs from the head's: run overlay status, then overlay deploy", nodes_[i]);
  }
  return {};
}

Status Preflight::check_folders() {
  for (const std::string& mount : profile_.mounts) {
    const auto parts = split(mount, ':');
    BK_TRY(all(fmt::format("folder {} {}\n", parts[2], parts[0])));
  }
  for (const std::string& path : needed_) BK_TRY(all(fmt::format("there {}\n", path)));
  return {};
}

Status Preflight::check_other_lanes() {
  if (!in_container()) return {};
  BK_ASSIGN(const auto answers, all(run_request(list_argv(profile_.runtime))));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    for (const std::string& line : values_of(*answers[i], "out")) {
      const std::size_t gap = line.find(' ');
      if (gap == std::string::npos || line.substr(gap + 1) == profile_.name) continue;
      return fail(Errc::kEnvironment,
                  fmt::format("container {} of lane {} is there: stop that lane first", line.substr(0, gap),
                              line.substr(gap + 1)),
                  nodes_[i]);
    }
  }
  return {};
}

Result<Checked> Preflight::run() {
  BK_TRY(open());
  BK_ASSIGN(const auto looks, all("look\n"));
  if (!profile_.modules.empty()) {
    const Lines releases = values_of(*looks.front(), "release");
    checked_.release = releases.empty() ? "" : releases.front();
    BK_ASSIGN(checked_.overlay,
              manifest::parse_manifest(joined(values_of(*looks.front(), "row")), nodes_.front() + ":manifest.tsv",
                                       package_of(profile_, root_dir_).string()));
    for (const Answer& look : looks) hash_texts_.push_back(joined(values_of(*look, "hash")));
  }
  BK_TRY(check_image());
  BK_TRY(attest());
  BK_TRY(check_overlay());
  BK_TRY(check_folders());
  BK_TRY(check_other_lanes());
  BK_TRY(all("take\n"));
  return checked_;
}

Status Preflight::await_workers(const std::string& pid_file) {
  std::vector<Session*> workers;
  workers.reserve(sessions_.size());
  for (std::size_t i = 1; i < sessions_.size(); ++i) workers.push_back(sessions_[i].get());
  for (const Answer& answer : ask(workers, Lines(workers.size(), "started " + pid_file + "\n"), kLimit, interrupted_)) {
    if (!answer) return fail(Errc::kEnvironment, answer.error().what, answer.error().where);
  }
  return {};
}

Result<Json> Preflight::clear(const std::string& pid_file) {
  BK_TRY(all("forget " + pid_file + "\n"));
  if (in_container()) {
    BK_ASSIGN(const auto answers, all(run_request(list_argv(profile_.runtime))));
    for (std::size_t i = 0; i < answers.size(); ++i) {
      for (const std::string& line : values_of(*answers[i], "out")) {
        const std::string remove = run_request(remove_argv(profile_.runtime, line.substr(0, line.find(' '))));
        const auto removed = ask({sessions_[i].get()}, {remove}, kLimit, interrupted_);
        if (!removed.front()) return fail(removed.front().error());
      }
    }
  }
  Json nodes = Json::array();
  if (!profile_.exclusive) return nodes;
  BK_ASSIGN(const auto freed, all("free\n"));
  for (std::size_t i = 0; i < freed.size(); ++i) {
    const Lines& lines = *freed[i];
    const Lines kib = values_of(lines, "available_kib");
    Json node = Json::object();
    node.set("node", nodes_[i]).set("page_cache", lines.empty() ? "unknown" : lines.front());
    nodes.push(node.set("available_kib", kib.empty() ? Json() : Json(parse_int(kib.front()))));
  }
  return nodes;
}

Environment Preflight::head_environment(const std::string& pid_file) {
  Environment found;
  const std::string in_it = shell_quote(environment_argv(profile_.runtime, container_name(profile_.name, 0)));
  const auto lines =
      in_container() ? head("run 1\n" + in_it + " | tr '\\0' '\\n'\n") : head("environ " + pid_file + "\n");
  if (!lines) return found;
  for (const std::string& entry : values_of(*lines, in_container() ? "out" : "env")) {
    const std::size_t equals = entry.find('=');
    if (equals != std::string::npos) found.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return found;
}

}  // namespace bk::boot
