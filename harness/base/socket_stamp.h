#pragma once
#include <sys/types.h>

#include <cstddef>

#include "base/clock.h"

namespace bk {

/// Asks the kernel to stamp what arrives on a socket (SO_TIMESTAMPNS); those accepted from a listening one are stamped
/// too. Sockets that cannot are left as they are.
void enable_receive_stamps(int fd);

/// What recv() gave.
struct StampedBytes {
  ssize_t bytes = -1;  ///< as recv() gives it, errno included
  Nanos stamp = 0;     ///< wall clock at which the kernel had the newest packet of them; 0: not stamped
};
/// recv() with its `flags`, and the stamp of what it gave.
[[nodiscard]] StampedBytes receive_stamped(int fd, char* into, std::size_t size, int flags);

}  // namespace bk
