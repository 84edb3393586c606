#include "loop.h"

#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace bk::sim {
namespace {

// Sub-millisecond waits where the kernel has them; whole milliseconds, rounded down, elsewhere.
int wait_for(int epoll_fd, epoll_event* events, int capacity, Nanos timeout) {
  const timespec spec{timeout / kSecond, timeout % kSecond};
  const int ready = epoll_pwait2(epoll_fd, events, capacity, timeout < 0 ? nullptr : &spec, nullptr);
  if (ready >= 0 || errno != ENOSYS) return ready;
  return epoll_wait(epoll_fd, events, capacity, timeout < 0 ? -1 : static_cast<int>(timeout / kMillisecond));
}

}  // namespace

Result<std::unique_ptr<Loop>> Loop::create() {
  const int fd = epoll_create1(EPOLL_CLOEXEC);
  if (fd < 0) return fail(Errc::kEnvironment, std::strerror(errno), "epoll_create1");
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);  // the default lets the kernel wake us 50 us late
  return std::unique_ptr<Loop>(new Loop(fd));
}

Loop::~Loop() { close(epoll_fd_); }

void Loop::watch(int fd, std::uint32_t events, Watcher* watcher) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = watcher;
  epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event);
}

void Loop::change(int fd, std::uint32_t events, Watcher* watcher) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = watcher;
  epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, fd, &event);
}

void Loop::unwatch(int fd) { epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr); }

void Loop::at(Nanos when, std::function<void()> call) { timers_.push({when, next_order_++, std::move(call)}); }

void Loop::run() {
  while (!stopped_) {
    run_due_timers();
    if (stopped_) break;
    wait_and_dispatch();
    for (std::size_t i = 0; i < deferred_.size(); ++i) {
      const auto call = std::move(deferred_[i]);  // the vector may grow while it runs
      call();
    }
    deferred_.clear();
  }
}

// A bounded batch, so that a flood of due timers cannot starve the sockets.
void Loop::run_due_timers() {
  constexpr int kBatch = 64;
  for (int i = 0; i < kBatch && !timers_.empty() && timers_.top().when <= monotonic_now(); ++i) {
    const auto call = std::move(timers_.top().call);
    timers_.pop();
    call();
  }
}

void Loop::wait_and_dispatch() {
  std::array<epoll_event, 128> events;
  Nanos timeout = -1;
  if (!deferred_.empty()) {
    timeout = 0;
  } else if (!timers_.empty()) {
    timeout = std::max<Nanos>(0, timers_.top().when - monotonic_now());
  }
  const int ready = wait_for(epoll_fd_, events.data(), static_cast<int>(events.size()), timeout);
  for (int i = 0; i < ready; ++i) {
    static_cast<Watcher*>(events[static_cast<std::size_t>(i)].data.ptr)
        ->on_ready(events[static_cast<std::size_t>(i)].events);
  }
}

}  // namespace bk::sim
