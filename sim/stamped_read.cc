#include "stamped_read.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include "base/socket_stamp.h"

namespace bk::sim {

StampedRead read_stamped(int fd, char* to, std::size_t size) {
  alignas(cmsghdr) char control[kStampRoom];
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
  const Nanos stamp = receive_stamp(message);
  const Nanos age = wall_now() - stamp;
  // The stamp is of the wall clock, which may be set back or forth in between.
  if (stamp != 0 && age >= 0 && age < 60 * kSecond) read.arrived = now - age;
  return read;
}

}  // namespace bk::sim
