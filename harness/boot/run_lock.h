#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bk::boot {

/// Where a node keeps its run lock unless BK_LOCK_DIR names another folder. It goes with a reboot, as engines do.
inline constexpr const char* kRunLockDir = "/run/lock/bracketkit";

/// The folder of this machine's run lock: BK_LOCK_DIR, else kRunLockDir.
[[nodiscard]] std::filesystem::path run_lock_dir();
/// The lock's file in it.
[[nodiscard]] std::filesystem::path run_lock_file(const std::filesystem::path& dir);

/// Who runs a lane on a node: the lock file's lines `key=value`.
struct RunLockHolder {
  std::string lane;        ///< the profile
  std::string user, host;  ///< of the program that booted it
  int pid = 0;             ///< of the process that holds it, on the node
  std::string start;       ///< that process's start time in clock ticks since boot, so that a reused pid is no holder
  std::string since;       ///< UTC
  /// The kernel ends the lane's engine with that process, so that nothing of a stale lock's lane can be left.
  bool engine_ends_with_holder = false;

  /// This process, from now on.
  [[nodiscard]] static RunLockHolder here(const std::string& lane, bool engine_ends_with_holder);
  [[nodiscard]] std::string text() const;      ///< as in the file
  [[nodiscard]] std::string sentence() const;  ///< "lane sim of root@host, pid 4711, since 2026-…"
  /// Its process was one of this machine and is gone.
  [[nodiscard]] bool is_stale() const;
};
/// Fields that are missing stay empty. Pure.
[[nodiscard]] RunLockHolder read_holder(std::string_view text);

/// One lane at a time on this machine. The lock goes with the object; after a kill it stays. A stale one is named and
/// not taken over, since an engine in a container outlives the program that booted it; only where the kernel ended the
/// engine with its holder does the next one take its place.
class RunLock {
 public:
  /// kEnvironment naming the holder, and when its process is gone that the lock is stale and what to do. kIo when the
  /// folder cannot be written.
  [[nodiscard]] static Result<std::unique_ptr<RunLock>> take(const std::filesystem::path& dir, const std::string& lane,
                                                             bool engine_ends_with_holder = false);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  RunLock(std::filesystem::path file, std::string text) : file_(std::move(file)), text_(std::move(text)) {}
  std::filesystem::path file_;
  std::string text_;
};

/// When a process of this machine started, in clock ticks since the machine did; empty: there is no such process.
[[nodiscard]] std::string process_start(int pid);
/// "root", or the number of the user that runs this program; and the host's name.
[[nodiscard]] std::string user_name();
[[nodiscard]] std::string host_name();

}  // namespace bk::boot
