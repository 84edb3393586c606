#include "base/clock.h"

#include <cerrno>
#include <ctime>

namespace bk {
namespace {
Nanos read_clock(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<Nanos>(t.tv_sec) * kSecond + t.tv_nsec;
}
}  // namespace

Nanos monotonic_now() { return read_clock(CLOCK_MONOTONIC); }
Nanos wall_now() { return read_clock(CLOCK_REALTIME); }
Nanos process_cpu_now() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

std::string format_utc(Nanos wall) {
  const std::time_t seconds = static_cast<std::time_t>(wall / kSecond);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

void SystemClock::sleep_until(Nanos t) {
  timespec until{static_cast<std::time_t>(t / kSecond), static_cast<long>(t % kSecond)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

}  // namespace bk
