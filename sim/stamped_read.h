#pragma once
#include <sys/types.h>

#include <cstddef>

#include "base/clock.h"

namespace bk::sim {

struct StampedRead {
  ssize_t bytes = 0;  ///< as recv() gives it, errno included
  Nanos arrived = 0;  ///< when the kernel had the last of them, CLOCK_MONOTONIC; now where it keeps no such times
};

/// recv() that does not wait. A reader that was busy elsewhere still learns when the bytes came.
[[nodiscard]] StampedRead read_stamped(int fd, char* to, std::size_t size);

}  // namespace bk::sim
