#include "http/receive_stamp.h"

#include <sys/socket.h>
#include <time.h>

#include <cstring>

namespace bk::http {
namespace {
constexpr Nanos kTorn = 5 * kMicrosecond;        // the two clocks are normally read within 0.1 us
constexpr Nanos kKeepPair = 100 * kMillisecond;  // adjtime slews at most 0.5 ms/s: 50 us in that time
constexpr Nanos kOldest = 10 * kSecond;
constexpr std::size_t kPeekBytes = 1 << 20;
}  // namespace

void enable_receive_stamps(int fd) {
  const int on = 1;
  (void)setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
}

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

Waiting peek(int fd) {
  // MSG_TRUNC: TCP counts the waiting bytes without copying them, so the buffer is never written.
  char unused = 0;
  iovec target{&unused, kPeekBytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(timespec))];
  msghdr message{};
  message.msg_iov = &target;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  Waiting waiting;
  waiting.bytes = recvmsg(fd, &message, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
  if (waiting.bytes <= 0) return waiting;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec t{};
    std::memcpy(&t, CMSG_DATA(c), sizeof t);
    waiting.stamp = static_cast<Nanos>(t.tv_sec) * kSecond + t.tv_nsec;
  }
  return waiting;
}

}  // namespace bk::http
