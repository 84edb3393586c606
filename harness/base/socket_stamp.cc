#include "base/socket_stamp.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstring>
#include <ctime>

namespace bk {
namespace {

Nanos stamp_of(msghdr& message) {
  Nanos stamp = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec t{};
    std::memcpy(&t, CMSG_DATA(part), sizeof t);
    stamp = static_cast<Nanos>(t.tv_sec) * kSecond + t.tv_nsec;
  }
  return stamp;
}

}  // namespace

void enable_receive_stamps(int fd) {
  const int on = 1;
  (void)setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
}

StampedBytes receive_stamped(int fd, char* into, std::size_t size, int flags) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(timespec))];
  iovec target{into, size};
  msghdr message{};
  message.msg_iov = &target;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  StampedBytes got;
  got.bytes = recvmsg(fd, &message, flags);
  if (got.bytes > 0) got.stamp = stamp_of(message);
  return got;
}

}  // namespace bk
