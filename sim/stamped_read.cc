#include "stamped_read.h"

#include <sys/socket.h>

#include "base/socket_stamp.h"

namespace bk::sim {

StampedRead read_stamped(int fd, char* to, std::size_t size) {
  const StampedBytes got = receive_stamped(fd, to, size, MSG_DONTWAIT);
  StampedRead read;
  read.bytes = got.bytes;
  if (read.bytes <= 0) return read;
  const Nanos now = monotonic_now();
  read.arrived = now;
  const Nanos age = wall_now() - got.stamp;
  // The stamp is of the wall clock, which may be set back or forth in between.
  if (got.stamp != 0 && age >= 0 && age < 60 * kSecond) read.arrived = now - age;
  return read;
}

}  // namespace bk::sim
