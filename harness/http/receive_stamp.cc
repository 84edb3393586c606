#include "http/receive_stamp.h"

#include <sys/socket.h>

#include <algorithm>

namespace bk::http {
namespace {
constexpr Nanos kTorn = 5 * kMicrosecond;        // the two clocks are normally read within 0.1 us
constexpr Nanos kKeepPair = 100 * kMillisecond;  // adjtime slews at most 0.5 ms/s: 50 us in that time
constexpr Nanos kOldest = 10 * kSecond;
constexpr std::size_t kLearning = 8;  // a few larger writes in a row are believed, one is not
}  // namespace

void StampClock::refresh() {
  const Nanos before = monotonic_now();
  const Nanos wall = wall_now();
  now_ = monotonic_now();
  if (now_ - before > kTorn && taken_ != 0 && now_ - taken_ < kKeepPair) return;
  offset_ = wall - (before + (now_ - before) / 2);
  taken_ = now_;
}

Nanos StampClock::to_monotonic(Nanos wall) const {
  const Nanos at = wall - offset_;
  if (at > now_ + kMillisecond || at < now_ - kOldest) return 0;
  return at;
}

StampedBytes peek(int fd, std::size_t limit) {
  // MSG_TRUNC: TCP counts the waiting bytes without copying them, so the buffer is normally never written.
  static thread_local char buffer[kPeekAll];
  return receive_stamped(fd, buffer, std::min(limit, kPeekAll), MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
}

void ReadStamps::look(int fd, const StampClock& clock, std::size_t* typical, char* copy, std::size_t size) {
  const StampedBytes waiting = copy == nullptr ? peek(fd) : receive_stamped(fd, copy, size, MSG_PEEK | MSG_DONTWAIT);
  bytes_ = waiting.bytes;
  taken_ = parts_ = 0;
  const Nanos last = waiting.stamp == 0 ? 0 : clock.to_monotonic(waiting.stamp);
  if (bytes_ <= 0 || last == 0) return;
  const auto bytes = static_cast<std::size_t>(bytes_);
  const std::size_t writes = *typical == 0 ? 1 : (bytes + *typical / 2) / *typical;
  parts_ = writes > 1 && writes <= kMostParts ? writes : 1;
  at_[parts_ - 1] = last;
  if (parts_ > 1) split(fd, clock, parts_);
  if (at_[0] != last) return;
  parts_ = 1;  // one packet: one write, or several that the kernel has joined
  const bool joined = writes > 1;
  *typical = joined && *typical != 0 ? *typical + (bytes - *typical) / kLearning : bytes;
}

// The packet in the middle of each part tells its time.
void ReadStamps::split(int fd, const StampClock& clock, std::size_t parts) {
  const auto bytes = static_cast<std::size_t>(bytes_);
  for (std::size_t i = 0; i + 1 < parts; ++i) {
    const StampedBytes part = peek(fd, (2 * i + 1) * bytes / (2 * parts) + 1);
    const Nanos at = part.stamp == 0 ? 0 : clock.to_monotonic(part.stamp);
    at_[i] = at == 0 ? at_[parts - 1] : at;
  }
}

Nanos ReadStamps::take(std::size_t size) {
  const std::size_t middle = taken_ + size / 2;
  taken_ += size;
  if (parts_ == 0 || taken_ > static_cast<std::size_t>(bytes_)) return 0;
  return at_[std::min(parts_ - 1, middle * parts_ / static_cast<std::size_t>(bytes_))];
}

}  // namespace bk::http
