#pragma once
#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>

#include "base/clock.h"

namespace bk::http {

/// epoll and one timer on CLOCK_MONOTONIC.
class Poller {
 public:
  Poller();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  /// Watches `fd` for `events` (EPOLLIN, EPOLLOUT); 0 stops watching. `watched` says whether it is watched already.
  void watch(int fd, std::uint32_t events, bool watched);
  /// Waits for a socket or for `until` (absolute; 0: no limit) and gives the sockets that are ready, maybe none.
  std::span<const epoll_event> wait(Nanos until);

 private:
  void arm(Nanos at);
  int epoll_ = -1;
  int timer_ = -1;
  Nanos armed_ = 0;
  std::array<epoll_event, 1024> ready_{};
};

}  // namespace bk::http
