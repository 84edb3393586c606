#pragma once
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace bk::test {

/// Calls `boot` in a process of its own, which then waits; once `up` has seen it, ends that process with SIGKILL and
/// checks that `gone` comes true without it.
template <class Boot, class Up, class Gone>
void kill_after_boot(const Boot& boot, const Up& up, const Gone& gone) {
  const pid_t child = fork();
  if (child == 0) {
    const auto booted = boot();
    if (!booted) _exit(1);
    pause();
  }
  REQUIRE(child > 0);
  up();
  REQUIRE(kill(child, SIGKILL) == 0);
  gone();
  int status = 0;
  waitpid(child, &status, 0);
}

}  // namespace bk::test
