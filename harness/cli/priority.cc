#include "cli/priority.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace bk::cli {

void add_nice_to(App& app, bool& nice) {
  app.flag("--nice", nice, "run at the lowest CPU and IO priority, for a node that serves");
}

Status lower_priority() {
  constexpr int kLowest = 19;
  if (setpriority(PRIO_PROCESS, 0, kLowest) != 0) {
    return fail(Errc::kUnavailable, "cannot lower the CPU priority: " + std::generic_category().message(errno),
                "--nice");
  }
  // ioprio_set has no wrapper in the C library: 1 is "this thread", class 3 is "idle".
  constexpr int kThisThread = 1, kIdleClass = 3, kClassShift = 13;
  if (syscall(SYS_ioprio_set, kThisThread, 0, kIdleClass << kClassShift) != 0) {
    return fail(Errc::kUnavailable, "cannot lower the IO priority: " + std::generic_category().message(errno),
                "--nice");
  }
  return {};
}

}  // namespace bk::cli
