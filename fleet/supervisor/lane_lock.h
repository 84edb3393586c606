#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"

namespace bk::supervisor {

/// One supervisor for one lane of this machine. The kernel drops the lock with the process, however that ends.
class LaneLock {
 public:
  /// `lane` names what is watched: its address, or the profile where each boot takes a free port. kEnvironment naming
  /// the process that watches it already; kIo when the folder cannot be written.
  [[nodiscard]] static Result<std::unique_ptr<LaneLock>> take(const std::filesystem::path& dir,
                                                              const std::string& lane);
  ~LaneLock();
  LaneLock(const LaneLock&) = delete;
  LaneLock& operator=(const LaneLock&) = delete;

 private:
  explicit LaneLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace bk::supervisor
