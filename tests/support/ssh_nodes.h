#pragma once
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

namespace bk::test {

/// Runs a command to its end; its output in the failure.
inline Captured must_run(const std::vector<std::string>& argv, const std::map<std::string, std::string>& env = {},
                         const std::string& cwd = {}) {
  const auto ran = run_captured({argv, env, cwd, "", false}, 60 * kSecond);
  CAPTURE(argv);
  REQUIRE(ran);
  CAPTURE(ran->out, ran->err);
  REQUIRE(ran->exit.ok());
  return *ran;
}

/// Waits until the condition holds, at most a minute.
template <class Condition>
bool eventually(Condition condition) {
  SystemClock clock;
  const Nanos limit = clock.now() + 60 * kSecond;
  while (!condition()) {
    if (clock.now() > limit) return false;
    clock.sleep_until(clock.now() + 10 * kMillisecond);
  }
  return true;
}

/// Machines of a fleet, n1 … n4, on this one: each has a network namespace of its own (reached over a pair of virtual
/// interfaces), a mount namespace with its own /srv and /run/lock, and an sshd with its own host key, pinned in a
/// known_hosts file. The calling thread moves into a network namespace of its own meanwhile, so that nothing of the
/// machine's network is touched and everything goes with the processes.
class SshNodes {
 public:
  /// Why nodes cannot be made here; nothing when they can.
  static std::optional<std::string> why_not() {
    if (geteuid() != 0) return "needs root";
    for (const char* program : {"/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/ssh-keygen", "/usr/bin/nsenter"}) {
      if (access(program, X_OK) != 0) return std::string(program) + " is missing";
    }
    const auto made = run_captured({{"unshare", "--net", "--mount", "sh", "-c",
                                     "mount -t tmpfs none /srv && ip link add bk0 type veth peer name bk1"},
                                    {},
                                    "",
                                    "",
                                    false},
                                   20 * kSecond);
    if (!made) return "unshare cannot be run";
    if (made->exit.ok()) return {};
    return "network and mount namespaces are refused: " + std::string(trim(made->err));
  }

  /// The four nodes of this program's tests, as they were made.
  static SshNodes& fresh() {
    static SshNodes nodes(4);
    nodes.reset();
    return nodes;
  }

  ~SshNodes() {
    processes_.clear();
    if (setns(home_, CLONE_NEWNET) != 0) std::abort();
    close(home_);
  }
  SshNodes(const SshNodes&) = delete;
  SshNodes& operator=(const SshNodes&) = delete;

  std::vector<std::string> names;

  [[nodiscard]] std::string config_file() const { return file("ssh_config"); }
  [[nodiscard]] std::string known_hosts() const { return file("known_hosts"); }
  [[nodiscard]] static std::string address(const std::string& name) { return "10.77." + name.substr(1) + ".2"; }
  /// A path of the node as this process sees it.
  [[nodiscard]] std::filesystem::path on(const std::string& name, const std::string& path) const {
    return fmt::format("/proc/{}/root{}", pid(name), path);
  }
  [[nodiscard]] int pid(const std::string& name) const { return processes_.at(name).pid(); }

  /// Runs a command in the node's namespaces.
  Captured inside(const std::string& name, std::vector<std::string> argv) const {
    argv.insert(argv.begin(), {"nsenter", "-t", std::to_string(pid(name)), "-m", "-n"});
    return must_run(argv);
  }
  /// Puts a shell script in the place of a program of the node; `$real` in it is the program itself.
  void replace_program(const std::string& name, const std::string& program, const std::string& script) {
    const std::string stem = name + "-" + std::filesystem::path(program).filename().string();
    const std::string copy = file(stem + "-real"), fake = file(stem + "-fake");
    std::filesystem::copy_file(program, copy, std::filesystem::copy_options::overwrite_existing);
    REQUIRE(write_file_atomic(fake, "#!/bin/sh\nreal=" + copy + "\n" + script));
    std::filesystem::permissions(fake, std::filesystem::perms(0755));
    inside(name, {"mount", "--bind", fake, program});
    replaced_.emplace_back(name, program);
  }
  void restore_program(const std::string& name, const std::string& program) {
    inside(name, {"umount", program});
    replaced_.erase(std::remove(replaced_.begin(), replaced_.end(), std::pair(name, program)), replaced_.end());
  }
  /// Pulls the node's cable, or puts it back.
  void set_link(const std::string& name, bool up) const {
    must_run({"ip", "link", "set", "bk-" + name, up ? "up" : "down"});
  }

 private:
  explicit SshNodes(int count) {
    home_ = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    REQUIRE(home_ >= 0);
    REQUIRE(unshare(CLONE_NEWNET) == 0);
    must_run({"ip", "link", "set", "lo", "up"});
    must_run({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file("key")});
    std::string known, config;
    for (int i = 1; i <= count; ++i) {
      const std::string name = fmt::format("n{}", i);
      names.push_back(name);
      must_run({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file("host-" + name)});
      known += name + " " + read_file(file("host-" + name + ".pub")).value();
      config += fmt::format("Host {}\n  HostName {}\n  HostKeyAlias {}\n", name, address(name), name);
    }
    config += fmt::format(
        "Host *\n  User root\n  IdentityFile {}\n  UserKnownHostsFile {}\n"
        "  GlobalKnownHostsFile /dev/null\n",
        file("key"), file("known_hosts"));
    known_ = known;
    REQUIRE(write_file_atomic(config_file(), config));
    REQUIRE(write_file_atomic(known_hosts(), known_));
    for (const std::string& name : names) start(name);
  }

  /// Undoes what a test did to the nodes.
  void reset() {
    while (!replaced_.empty())
      restore_program(std::string(replaced_.back().first), std::string(replaced_.back().second));
    REQUIRE(write_file_atomic(known_hosts(), known_));
    for (const std::string& name : names) {
      set_link(name, true);
      inside(name, {"sh", "-c", "rm -rf /srv/* /srv/.[!.]* /run/lock/*"});
    }
  }

  [[nodiscard]] std::string file(const std::string& name) const { return (dir_.path() / name).string(); }

  void start(const std::string& name) {
    const std::string config = file("sshd-" + name);
    REQUIRE(write_file_atomic(config, fmt::format("HostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\n"
                                                  "PidFile none\nPermitRootLogin yes\nPasswordAuthentication no\n"
                                                  "PrintMotd no\nMaxStartups 100\n",
                                                  file("host-" + name), file("key.pub"))));
    const std::string commands =
        "mount -t tmpfs none /srv && mkdir -p /run/lock && mount -t tmpfs none /run/lock && mount -t tmpfs none /mnt "
        "&& "
        "mkdir -p /run/sshd && ip link set lo up && exec /usr/sbin/sshd -D -e -f " +
        config;
    auto process =
        Process::start({{"unshare", "--net", "--mount", "sh", "-c", commands}, {}, "", file("log-" + name), true});
    REQUIRE(process);
    processes_.emplace(name, std::move(*process));
    const auto own_net = [&] {
      std::error_code error;
      const auto theirs = std::filesystem::read_symlink(fmt::format("/proc/{}/ns/net", pid(name)), error);
      return !error && theirs != std::filesystem::read_symlink("/proc/thread-self/ns/net", error);
    };
    REQUIRE(eventually(own_net));
    const std::string number = name.substr(1);
    must_run({"ip", "link", "add", "bk-" + name, "type", "veth", "peer", "name", "eth0", "netns",
              std::to_string(pid(name))});
    must_run({"ip", "addr", "add", "10.77." + number + ".1/24", "dev", "bk-" + name});
    must_run({"ip", "link", "set", "bk-" + name, "up"});
    const std::vector<std::string> net = {"nsenter", "-t", std::to_string(pid(name)), "-n", "ip"};
    const auto there = [&](std::vector<std::string> words) {
      words.insert(words.begin(), net.begin(), net.end());
      must_run(words);
    };
    there({"addr", "add", address(name) + "/24", "dev", "eth0"});
    there({"link", "set", "eth0", "up"});
    const bool reached = eventually([&] {
      const auto ran =
          run_captured({{"ssh", "-F", config_file(), "-o", "BatchMode=yes", "-o", "ConnectTimeout=2", name, "true"},
                        {},
                        "",
                        "",
                        false},
                       20 * kSecond);
      return ran && ran->exit.ok();
    });
    INFO(read_file(file("log-" + name)).value_or("no log"));
    REQUIRE(reached);
  }

  TempDir dir_;
  int home_ = -1;
  std::string known_;
  std::vector<std::pair<std::string, std::string>> replaced_;
  std::map<std::string, Process> processes_;
};

}  // namespace bk::test

/// First line of a test that needs nodes: says why it is left out where they cannot be made.
#define BK_NEEDS_NODES()                                           \
  do {                                                             \
    if (const auto bk_reason = ::bk::test::SshNodes::why_not()) {  \
      std::printf("skipped: ssh nodes: %s\n", bk_reason->c_str()); \
      return;                                                      \
    }                                                              \
  } while (false)
