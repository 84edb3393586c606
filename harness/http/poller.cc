#include "http/poller.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"

namespace bk::http {

Poller::Poller()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)), timer_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
  BK_CHECK(epoll_ >= 0 && timer_ >= 0);
  watch(timer_, EPOLLIN, false);
}

Poller::~Poller() {
  close(timer_);
  close(epoll_);
}

void Poller::watch(int fd, std::uint32_t events, bool watched) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  const int operation = events == 0 ? EPOLL_CTL_DEL : watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(epoll_, operation, fd, &event) != 0 && operation == EPOLL_CTL_ADD && errno == EEXIST) {
    (void)epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
  }
}

void Poller::arm(Nanos at) {
  if (at == armed_) return;
  itimerspec spec{};
  spec.it_value.tv_sec = at / kSecond;
  spec.it_value.tv_nsec = at % kSecond;
  (void)timerfd_settime(timer_, TFD_TIMER_ABSTIME, &spec, nullptr);
  armed_ = at;
}

std::span<const epoll_event> Poller::wait(Nanos until) {
  // A time that is past would fire at once as well, at the price of a system call.
  const bool past = until != 0 && until <= monotonic_now();
  if (!past) arm(until);
  const int n = epoll_wait(epoll_, ready_.data(), static_cast<int>(ready_.size()), past ? 0 : -1);
  if (n <= 0) return {};
  auto end = ready_.begin() + n;
  const auto timer = std::find_if(ready_.begin(), end, [this](const epoll_event& e) { return e.data.fd == timer_; });
  if (timer != end) {
    std::uint64_t expirations = 0;
    (void)!read(timer_, &expirations, sizeof expirations);
    armed_ = 0;
    *timer = *(end - 1);
    --end;
  }
  return {ready_.begin(), end};
}

}  // namespace bk::http
