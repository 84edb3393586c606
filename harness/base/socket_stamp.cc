#include "base/socket_stamp.h"

#include <cstring>
#include <ctime>

namespace bk {

void enable_receive_stamps(int fd) {
  const int on = 1;
  (void)setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
}

Nanos receive_stamp(msghdr& message) {
  Nanos stamp = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec t{};
    std::memcpy(&t, CMSG_DATA(part), sizeof t);
    stamp = static_cast<Nanos>(t.tv_sec) * kSecond + t.tv_nsec;
  }
  return stamp;
}

}  // namespace bk
