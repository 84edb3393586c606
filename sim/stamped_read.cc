#include "stamped_read.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstring>
#include <ctime>

namespace bk::sim {

void keep_arrival_times(int fd) {
  const int one = 1;
  setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one);
}

StampedRead read_stamped(int fd, char* to, std::size_t size) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(timespec))];
  iovec piece{to, size};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  StampedRead read;
  read.bytes = recvmsg(fd, &message, MSG_DONTWAIT);
  if (read.bytes <= 0) return read;
  const Nanos now = monotonic_now();
  read.arrived = now;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec stamp{};
    std::memcpy(&stamp, CMSG_DATA(part), sizeof stamp);
    const Nanos age = wall_now() - (static_cast<Nanos>(stamp.tv_sec) * kSecond + stamp.tv_nsec);
    // The stamp is of the wall clock, which may be set back or forth in between.
    if (age >= 0 && age < 60 * kSecond) read.arrived = now - age;
  }
  return read;
}

}  // namespace bk::sim
