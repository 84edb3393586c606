#pragma once
#include <string>
#include <vector>

#include "lane_fixture.h"
#include "support/ssh_nodes.h"

namespace bk::overlay {

/// A lane in a git checkout, and four machines that it is deployed to.
struct FleetFixture {
  LaneFixture lane;
  test::SshNodes& nodes = test::SshNodes::fresh();
  const std::string releases = "/srv/bracketkit/p";

  FleetFixture() {
    lane.write("profiles/p.env",
               "COMMAND=\"{BIN}/sim-engine --port "
               "{PORT}\"\nRUNTIME=docker\nIMAGE=i:1\nPORT=8000\nTARGET_PREFIX={ROOT}/site-packages\n"
               "MODULES=\"one two\"\nNODES=\"n1 n2 n3 n4\"\nDEPLOY_DIR=/srv/bracketkit\nSSH_CONFIG=" +
                   nodes.config_file() + "\n");
    git({"init", "-q", "-b", "main"});
    commit("first");
  }

  std::string git(std::vector<std::string> words) const {
    words.insert(words.begin(), "git");
    std::map<std::string, std::string> env;
    for (const char* role : {"AUTHOR", "COMMITTER"}) {
      env[std::string("GIT_") + role + "_NAME"] = "tester";
      env[std::string("GIT_") + role + "_EMAIL"] = "tester@example.invalid";
    }
    return std::string(trim(test::must_run(words, env, lane.root.string()).out));
  }
  void commit(const std::string& message) const {
    git({"add", "-A"});
    git({"commit", "-q", "-m", message});
  }
  /// Changes a file of module two and commits it.
  void change(const std::string& text) const {
    lane.write("overlay/modules/two/new.py", text);
    commit(text);
  }

  [[nodiscard]] Ran deploy(std::vector<std::string> more = {}) const {
    cli::Args args = {"deploy", lane.profile()};
    args.insert(args.end(), more.begin(), more.end());
    return overlay_program(args);
  }
  [[nodiscard]] Ran status() const { return overlay_program({"status", lane.profile()}); }

  /// Every file on a node below the deploy folder, name and SHA-256, and where `current` points. The lock file and who
  /// held it last are left out.
  [[nodiscard]] std::string hashes(const std::string& node) const {
    std::string text;
    for (const auto& [name, bytes] : files_below(nodes.on(node, "/srv"))) {
      if (name.ends_with("/.lock") || name.ends_with("/.former")) continue;
      text += sha256_hex(bytes) + "  " + name + "\n";
    }
    std::error_code none;
    return text + "current " + std::filesystem::read_symlink(nodes.on(node, releases + "/current"), none).string();
  }
  [[nodiscard]] std::vector<std::string> all_hashes() const {
    std::vector<std::string> all;
    for (const std::string& name : nodes.names) all.push_back(hashes(name));
    return all;
  }
  /// The deployed files' hash list, read by this process and not by the node.
  [[nodiscard]] std::string deployed(const std::string& node) const {
    std::string text;
    for (const auto& [name, bytes] : files_below(nodes.on(node, releases) / "current")) {
      if (name != "SHA256SUMS") text += sha256_hex(bytes) + "  " + name + "\n";
    }
    return text;
  }
};

}  // namespace bk::overlay
