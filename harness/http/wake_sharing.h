#pragma once
#include <cstddef>

#include "base/clock.h"

namespace bk::http {

/// Decides how long to let data gather before the next wake. A wake costs more CPU than reading one event, and the
/// kernel's stamps keep the arrival times, so many streams may share one; a single stream is always served at once.
/// Engines write all streams of a step in a row: once such a row has ended, nothing is left to gather.
class WakeSharing {
 public:
  /// A wake at `now` found `ready` sockets, `fresh` of them for the first time in this window, and could stamp
  /// `stamped`, the newest at `newest`. Gives how long after `now` the next wake may come: 0 is at once.
  [[nodiscard]] Nanos after_wake(Nanos now, std::size_t ready, std::size_t fresh, std::size_t stamped, Nanos newest);
  /// Number of the current window: a socket whose last window differs is fresh.
  [[nodiscard]] unsigned window() const { return window_; }

 private:
  void close_window(Nanos length);
  Nanos window_start_ = 0;
  Nanos hold_ = 0;
  std::size_t ready_ = 0, sockets_ = 0, stamped_ = 0;
  unsigned window_ = 1;
};

}  // namespace bk::http
