#include "base/late_library.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <string>

namespace bk {
namespace {

struct Ended {
  int code = -1;
  std::string said;  ///< on standard error
};

Ended run_apart(const std::function<void()>& act) {
  std::array<int, 2> pipe_ends{};
  REQUIRE(pipe(pipe_ends.data()) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipe_ends[1], STDERR_FILENO);
    act();
    _exit(0);
  }
  close(pipe_ends[1]);
  Ended ended;
  std::array<char, 512> buffer{};
  for (ssize_t n = 0; (n = read(pipe_ends[0], buffer.data(), buffer.size())) > 0;) {
    ended.said.append(buffer.data(), static_cast<std::size_t>(n));
  }
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ended;
}

TEST_CASE("A late library's functions are found, and the same each time") {
  LateLibrary mathematics("libm.so.6", "libc6");
  auto* const root = reinterpret_cast<double (*)(double)>(mathematics.find("sqrt"));
  CHECK(root(9.0) == 3.0);
  CHECK(mathematics.find("sqrt") == reinterpret_cast<void*>(root));
}

TEST_CASE("A program whose late library is missing ends with one line that says what to install") {
  LateLibrary missing("libbk-nowhere.so.7", "nowhere7");
  const Ended ended = run_apart([&] { (void)missing.find("anything"); });
  CHECK(ended.code == 3);
  CHECK(ended.said.find("error: libbk-nowhere.so.7 is not there or of no use: install nowhere7 (") !=
        std::string::npos);
  CHECK(ended.said.find('\n') == ended.said.size() - 1);
}

TEST_CASE("A late library without the function is named with it") {
  LateLibrary mathematics("libm.so.6", "libc6");
  const Ended ended = run_apart([&] { (void)mathematics.find("bk_no_such_function"); });
  CHECK(ended.code == 3);
  CHECK(ended.said.find("bk_no_such_function") != std::string::npos);
}

}  // namespace
}  // namespace bk
