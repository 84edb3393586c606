#include "boot/page_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace bk::boot {

Status drop_page_cache() {
  constexpr const char* kSwitch = "/proc/sys/vm/drop_caches";
  const int file = open(kSwitch, O_WRONLY | O_CLOEXEC);
  if (file < 0) return fail(Errc::kEnvironment, std::strerror(errno), kSwitch);
  sync();
  const bool ok = write(file, "1\n", 2) == 2;
  Status status = ok ? Status{} : Status(fail(Errc::kEnvironment, std::strerror(errno), kSwitch));
  close(file);
  return status;
}

}  // namespace bk::boot
