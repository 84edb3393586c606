#pragma once
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

namespace bk::test {

/// A sim-engine of this build on a free port, stopped when the object goes.
class SimEngine {
 public:
  explicit SimEngine(std::vector<std::string> flags = {}, std::map<std::string, std::string> env = {}) {
    std::vector<std::string> argv = {std::string(BK_BIN_DIR) + "/sim-engine", "--port", "0"};
    argv.insert(argv.end(), flags.begin(), flags.end());
    const std::string log = (dir_.path() / "log").string();
    auto started = Process::start({argv, std::move(env), "", log, true});
    REQUIRE(started);
    process_.emplace_back(std::move(*started));
    SystemClock clock;
    const Nanos limit = clock.now() + 20 * kSecond;
    while (url_.empty() && clock.now() < limit && !process_.front().poll()) {
      clock.sleep_until(clock.now() + 5 * kMillisecond);
      for (const std::string_view line : split_lines(read_file(log).value_or(""))) {
        constexpr std::string_view kHead = "listening on ";
        if (line.starts_with(kHead)) url_ = line.substr(kHead.size());
      }
    }
    INFO(read_file(log).value_or("no log"));
    REQUIRE_FALSE(url_.empty());
  }
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] Process& process() { return process_.front(); }

 private:
  TempDir dir_;
  std::vector<Process> process_;
  std::string url_;
};

/// Runs a program of this build to its end.
inline Captured run_program(std::vector<std::string> argv, std::map<std::string, std::string> env = {},
                            const std::string& cwd = {}, Nanos limit = 90 * kSecond) {
  argv.front() = std::string(BK_BIN_DIR) + "/" + argv.front();
  auto captured = run_captured({std::move(argv), std::move(env), cwd, "", true}, limit);
  REQUIRE(captured);
  return *captured;
}

}  // namespace bk::test
