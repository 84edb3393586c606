#include "boot/namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace bk::boot {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> system_error(const std::string& call, const std::string& where = {}) {
  const int reason = errno;
  const char* next = reason == EPERM ? "; mounting needs root or user namespaces" : "";
  return fail(Errc::kEnvironment, call + ": " + std::strerror(reason) + next, where);
}

/// The kernel wants a whole map in one write to a file that exists.
Status write_map(const char* path, const std::string& text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return system_error("open", path);
  const bool ok = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  Status status = ok ? Status{} : Status(system_error("write", path));
  close(file);
  return status;
}

Status unshare_mounts() {
  if (geteuid() == 0) return unshare(CLONE_NEWNS) == 0 ? Status{} : Status(system_error("unshare"));
  const std::string uid = std::to_string(geteuid());
  const std::string gid = std::to_string(getegid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return system_error("unshare");
  BK_TRY(write_map("/proc/self/setgroups", "deny"));
  BK_TRY(write_map("/proc/self/uid_map", uid + " " + uid + " 1"));
  return write_map("/proc/self/gid_map", gid + " " + gid + " 1");
}

/// In overlayfs options ':' separates folders, ',' options, and a backslash escapes.
Status check_option_path(const fs::path& path) {
  if (path.string().find_first_of(":,\\") == std::string::npos) return {};
  return fail(Errc::kUsage, "a path with ':', ',' or a backslash cannot be mounted", path.string());
}

}  // namespace

Status enter_overlay(const fs::path& tree, const fs::path& package) {
  BK_TRY(check_option_path(tree));
  BK_TRY(check_option_path(package));
  int death_signal = 0;
  prctl(PR_GET_PDEATHSIG, &death_signal);
  BK_TRY(unshare_mounts());
  if (death_signal != 0) prctl(PR_SET_PDEATHSIG, death_signal);  // entering a user namespace clears it
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return system_error("mount private", "/");
  const std::string options = "lowerdir=" + tree.string() + ":" + package.string();
  if (mount("overlay", package.c_str(), "overlay", MS_RDONLY, options.c_str()) != 0) {
    return system_error("mount overlay", package.string());
  }
  return {};
}

}  // namespace bk::boot
