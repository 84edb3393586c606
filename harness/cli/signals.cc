#include "cli/signals.h"

#include <signal.h>
#include <unistd.h>

#include <cstring>

#include "base/check.h"

namespace bk::cli {
namespace {

std::atomic<bool> g_interrupted{false};
std::atomic<int> g_signal{0};
std::atomic<bool> g_guarded{false};
struct sigaction g_old_int, g_old_term, g_old_pipe;

static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "the handler may only use lock-free atomics");

void on_signal(int number) {
  if (g_interrupted.exchange(true)) _exit(130);
  g_signal.store(number);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  BK_CHECK(!g_guarded.exchange(true));
  g_interrupted = false;
  g_signal = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &g_old_int);
  sigaction(SIGTERM, &action, &g_old_term);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, &g_old_pipe);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &g_old_int, nullptr);
  sigaction(SIGTERM, &g_old_term, nullptr);
  sigaction(SIGPIPE, &g_old_pipe, nullptr);
  g_guarded = false;
}

const std::atomic<bool>& InterruptGuard::flag() const { return g_interrupted; }

Status InterruptGuard::check() const {
  if (!interrupted()) return {};
  return fail(Errc::kInterrupted,
              std::string("interrupted by SIG") + sigabbrev_np(g_signal.load()) + "; what was finished is kept");
}

}  // namespace bk::cli
