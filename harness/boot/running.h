#pragma once
#include <sys/types.h>

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "boot/profile.h"

namespace bk::boot {

/// What runs an engine: a process here, a container, or several on the nodes of a fleet.
class Running {
 public:
  virtual ~Running() = default;
  /// How it ended, for people ("exit code 7", "node n2: exit code 1"); nothing while all of it runs.
  [[nodiscard]] virtual std::optional<std::string> ended() = 0;
  /// The process on this machine that stands for it.
  [[nodiscard]] virtual pid_t pid() const = 0;
  /// The environment that the engine's head process runs with; empty when it cannot be read.
  [[nodiscard]] virtual Environment environment() = 0;
  /// Stops all of it: asks, and after `grace` forces. Ok when it is gone.
  virtual Status stop(Nanos grace) = 0;
};

}  // namespace bk::boot
