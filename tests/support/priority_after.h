#pragma once
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>

namespace bk::test {

/// What the kernel says of a process.
struct Priority {
  int nice = -1;
  int io_class = -1;        ///< 0 none, 1 real time, 2 best effort, 3 idle
  int nice_of_thread = -1;  ///< of a thread started then
};

/// Priorities after `work`, which runs in a process of its own: they cannot be raised again.
inline Priority priority_after(const std::function<void()>& work) {
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const auto nice_in = [](const std::string& path) {
      std::ostringstream text;
      text << std::ifstream(path).rdbuf();
      // The 19th field; the second, a name in brackets, may hold blanks.
      std::istringstream rest(text.str().substr(text.str().rfind(')') + 1));
      std::string field;
      for (int i = 3; i <= 19; ++i) rest >> field;
      return std::stoi(field);
    };
    Priority seen;
    work();
    seen.nice = nice_in("/proc/self/stat");
    seen.io_class = static_cast<int>(syscall(SYS_ioprio_get, 1, 0) >> 13);
    std::thread([&] { seen.nice_of_thread = nice_in("/proc/thread-self/stat"); }).join();
    const bool sent = write(ends[1], &seen, sizeof seen) == sizeof seen;
    _exit(sent ? 0 : 1);
  }
  close(ends[1]);
  Priority seen;
  CHECK(read(ends[0], &seen, sizeof seen) == sizeof seen);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  return seen;
}

}  // namespace bk::test
