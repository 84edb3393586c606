#pragma once
#include <sys/types.h>

#include <array>
#include <cstddef>

#include "base/clock.h"
#include "base/socket_stamp.h"

namespace bk::http {

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

inline constexpr std::size_t kPeekAll = std::size_t{64} << 10;
/// What waits on a socket, seen without taking it: at most `limit` bytes, at most kPeekAll. 0: the peer ended; -1:
/// nothing waits, or the socket cannot tell. TCP only: other sockets would copy the bytes.
[[nodiscard]] StampedBytes peek(int fd, std::size_t limit = kPeekAll);

/// When the bytes of one read arrived. A backlog of several equal writes (a client that was kept from running) holds a
/// stamp for each of them, as far as the kernel kept their packets apart.
class ReadStamps {
 public:
  /// Looks at what waits on `fd`. `typical`: bytes of one write on it, kept up to date; 0 at first. A copy of at most
  /// `size` bytes is left at `copy` when there is one.
  void look(int fd, const StampClock& clock, std::size_t* typical, char* copy = nullptr, std::size_t size = 0);
  /// Bytes that wait, of which a copy has the first; 0: the peer ended; -1: nothing waits.
  [[nodiscard]] ssize_t bytes() const { return bytes_; }
  void clear() {
    parts_ = 0;
    bytes_ = -1;
  }
  /// True when the kernel stamped what waits, or nothing but an end does.
  [[nodiscard]] bool stamped() const { return parts_ > 0 || bytes_ <= 0; }
  /// Arrival of the next `size` bytes, as they came; 0 when unknown (they came after the look).
  [[nodiscard]] Nanos take(std::size_t size);
  [[nodiscard]] Nanos newest() const { return parts_ == 0 ? 0 : at_[parts_ - 1]; }
  [[nodiscard]] Nanos oldest() const { return parts_ == 0 ? 0 : at_[0]; }

 private:
  static constexpr std::size_t kMostParts = 8;
  void split(int fd, const StampClock& clock, std::size_t parts);
  std::array<Nanos, kMostParts> at_{};
  std::size_t parts_ = 0;
  ssize_t bytes_ = -1;
  std::size_t taken_ = 0;
};

}  // namespace bk::http
