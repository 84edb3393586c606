#pragma once
#include <sys/types.h>

#include "base/clock.h"

namespace bk::http {

/// Asks the kernel to stamp what arrives on a socket (SO_TIMESTAMPNS). Sockets that cannot are left as they are.
void enable_receive_stamps(int fd);

/// Carries the kernel's wall-clock stamps over to CLOCK_MONOTONIC.
class StampClock {
 public:
  /// Reads both clocks; a pair torn apart by a descheduling is dropped when an older one stands. Once per wake.
  void refresh();
  /// CLOCK_MONOTONIC of a wall stamp, or 0 when it lies outside [now - 10 s, now]: the wall clock was set meanwhile.
  [[nodiscard]] Nanos to_monotonic(Nanos wall) const;
  [[nodiscard]] Nanos now() const { return now_; }  ///< at the last refresh

 private:
  Nanos offset_ = 0;
  Nanos now_ = 0;
  Nanos taken_ = 0;
};

/// What waits on a socket, seen without taking it.
struct Waiting {
  ssize_t bytes = -1;  ///< 0: the peer ended; -1: nothing waits, or the socket cannot tell
  Nanos stamp = 0;     ///< wall clock of the newest packet that waits; 0: not stamped
};
[[nodiscard]] Waiting peek(int fd);

}  // namespace bk::http
