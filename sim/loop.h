#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace bk::sim {

/// Something with a file descriptor that the loop watches.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void on_ready(std::uint32_t events) = 0;
};

/// One thread's epoll loop with timers on an absolute schedule: a late timer delays itself, never those after it.
class Loop {
 public:
  /// kEnvironment when the kernel gives no epoll instance.
  static Result<std::unique_ptr<Loop>> create();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void watch(int fd, std::uint32_t events, Watcher* watcher);
  void change(int fd, std::uint32_t events, Watcher* watcher);
  void unwatch(int fd);
  /// Calls `call` once, at `when` or as soon after it as the machine allows.
  void at(Nanos when, std::function<void()> call);
  /// Runs after the current batch of events: the place to free what an event handler still stands on.
  void later(std::function<void()> call) { deferred_.push_back(std::move(call)); }
  void run();
  void stop() { stopped_ = true; }

 private:
  explicit Loop(int epoll_fd) : epoll_fd_(epoll_fd) {}
  struct Timer {
    Nanos when;
    std::uint64_t order;
    mutable std::function<void()> call;
    bool operator>(const Timer& other) const { return when != other.when ? when > other.when : order > other.order; }
  };
  void run_due_timers();
  void wait_and_dispatch();

  int epoll_fd_;
  bool stopped_ = false;
  std::uint64_t next_order_ = 0;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::vector<std::function<void()>> deferred_;
};

}  // namespace bk::sim
