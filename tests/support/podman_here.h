#pragma once
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>

#include "support/ssh_nodes.h"

namespace bk::test {

/// podman for the rest of this program, with images and containers in a folder of its own and one image "bk:1" of this
/// machine's shell and the embedded engine. The calling thread moves into a mount namespace of its own, where the
/// control groups are of one version and the run locks are nobody else's; what it starts sees the same.
class PodmanHere {
 public:
  static PodmanHere& get() {
    static PodmanHere here;
    return here;
  }
  /// A test that failed may have left a container; what podman mounted would keep the folder.
  ~PodmanHere() {
    if (!configured_) return;
    const std::string dir = dir_.path().string();
    (void)run_captured({{"sh", "-c",
                         "podman rm --force --all; sed -n 's|^[^ ]* \\(" + dir +
                             "/[^ ]*\\) .*|\\1|p' /proc/self/mounts | tac | xargs -r umount"},
                        {},
                        "",
                        "",
                        false},
                       60 * kSecond);
  }
  PodmanHere(const PodmanHere&) = delete;
  PodmanHere& operator=(const PodmanHere&) = delete;

  /// Why no container runs here; empty when one does.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  Captured podman(std::vector<std::string> words) const {
    words.insert(words.begin(), "podman");
    return must_run(words);
  }
  /// Names of the containers that run, one a line.
  [[nodiscard]] std::string running() const { return podman({"ps", "--format", "{{.Names}}"}).out; }

 private:
  PodmanHere() { why_not_ = start(); }

  std::string start() {
    if (geteuid() != 0) return "needs root";
    for (const char* program : {"/usr/bin/podman", "/usr/bin/crun", "/usr/bin/catatonit"}) {
      if (access(program, X_OK) != 0) return std::string(program) + " is missing";
    }
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      return std::string("no mount namespace: ") + std::strerror(errno);
    }
    (void)umount2("/sys/fs/cgroup/unified", MNT_DETACH);  // crun takes no two versions at once
    if (mount("none", "/run/lock", "tmpfs", 0, nullptr) != 0) return "/run/lock cannot be covered";
    configure();
    return make_image();
  }

  void configure() {
    const std::string dir = dir_.path().string();
    REQUIRE(write_file_atomic(dir + "/containers.conf",
                              "[containers]\ncgroups = \"disabled\"\n"
                              "default_ulimits = [\"nofile=1024:1024\", \"nproc=4096:4096\"]\n"
                              "[engine]\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\nruntime = \"crun\"\n"
                              "lock_type = \"file\"\ntmp_dir = \"" +
                                  dir + "/tmp\"\n"));
    REQUIRE(write_file_atomic(dir + "/storage.conf", "[storage]\ndriver = \"vfs\"\ngraphroot = \"" + dir +
                                                         "/store\"\nrunroot = \"" + dir + "/run\"\n"));
    configured_ = true;
    setenv("CONTAINERS_CONF", (dir + "/containers.conf").c_str(), 1);
    setenv("CONTAINERS_STORAGE_CONF", (dir + "/storage.conf").c_str(), 1);
  }

  [[nodiscard]] std::string make_image() const {
    const std::string script =
        "set -e; cd \"$1\"; mkdir -p root/tmp root/etc root/proc root/dev root/sys root/run root/opt/pkg root/opt/bk\n"
        "add() { mkdir -p \"root${2%/*}\"; cp -L \"$1\" \"root$2\"; ldd \"$1\" | grep -o '/[^ ]*' | while read -r l; "
        "do "
        "mkdir -p \"root${l%/*}\"; cp -Lu \"$l\" \"root$l\"; done; }\n"
        "for f in /bin/sh /usr/bin/sha256sum /usr/bin/cat /usr/bin/od /usr/bin/tr; do add $f $f; done\n"
        "add \"$2\" /opt/bk/sim-engine; printf 'old\\n' >root/opt/pkg/a.txt; printf 'pinned\\n' >root/opt/pkg/b.txt\n"
        "tar -C root -cf image.tar .; rm -r root; podman import -q image.tar localhost/bk:1\n"
        "podman run --rm --init --network host --entrypoint sh localhost/bk:1 -c 'echo a container runs'";
    const auto made =
        run_captured({{"sh", "-c", script, "image", dir_.path().string(), std::string(BK_BIN_DIR) + "/sim-engine"},
                      {},
                      "",
                      "",
                      false},
                     120 * kSecond);
    if (!made) return made.error().text();
    if (made->out.ends_with("a container runs\n")) return {};
    const auto said = split_lines(made->err);
    return "no container can be run: " + std::string(said.empty() ? "no reason given" : said.back());
  }

  TempDir dir_;
  bool configured_ = false;
  std::string why_not_;
};

}  // namespace bk::test

/// First line of a test that needs podman: says why it is left out where no container can be run.
#define BK_NEEDS_PODMAN()                                                                    \
  do {                                                                                       \
    if (!::bk::test::PodmanHere::get().why_not().empty()) {                                  \
      std::printf("skipped: podman: %s\n", ::bk::test::PodmanHere::get().why_not().c_str()); \
      return;                                                                                \
    }                                                                                        \
  } while (false)
