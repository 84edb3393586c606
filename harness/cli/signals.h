#pragma once
#include <atomic>

#include "base/result.h"

namespace bk::cli {

/// While it lives, the first SIGINT or SIGTERM only raises a flag, so that the program can keep what is finished; a
/// second one ends the process at once (exit code 130). SIGPIPE is ignored. One object a process; the old handlers come
/// back.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// True once a signal came. Lock-free, safe from any thread: hand it to loops as their stop flag.
  [[nodiscard]] const std::atomic<bool>& flag() const;
  [[nodiscard]] bool interrupted() const { return flag().load(std::memory_order_relaxed); }
  /// kInterrupted naming the signal when one came, for the end of a loop: `BK_TRY(guard.check());`.
  [[nodiscard]] Status check() const;
};

}  // namespace bk::cli
