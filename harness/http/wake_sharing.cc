#include "http/wake_sharing.h"

#include <algorithm>

namespace bk::http {
namespace {
constexpr Nanos kWindow = 20 * kMillisecond;
constexpr Nanos kLongest = kMillisecond;
constexpr Nanos kShortest = 200 * kMicrosecond;  // below it a wake saved costs as much as the extra sleep
constexpr double kBusyPerSecond = 3000;
constexpr double kEventsPerSocket = 0.2;  // telling two events in one read apart costs two more looks: keep that rare
}  // namespace

Nanos WakeSharing::after_wake(Nanos now, std::size_t ready, std::size_t fresh, std::size_t stamped, Nanos newest) {
  ready_ += ready;
  sockets_ += fresh;
  stamped_ += stamped;
  if (now - window_start_ >= kWindow) {
    close_window(now - window_start_);
    window_start_ = now;
    ++window_;
  }
  return now - newest > hold_ / 2 ? 0 : hold_;
}

void WakeSharing::close_window(Nanos length) {
  const double per_second = static_cast<double>(ready_) / to_s(length);
  const bool stamps_hold = stamped_ * 10 >= ready_ * 9;
  hold_ = 0;
  if (per_second >= kBusyPerSecond && stamps_hold) {
    const Nanos wanted = from_s(kEventsPerSocket * static_cast<double>(sockets_) / per_second);
    hold_ = wanted < kShortest ? 0 : std::min(wanted, kLongest);
  }
  ready_ = sockets_ = stamped_ = 0;
}

}  // namespace bk::http
