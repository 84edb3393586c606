#pragma once
#include <signal.h>

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "base/text.h"
#include "boot/launcher.h"

namespace bk::supervisor::test {

struct Event {
  double at_s = 0;  ///< CLOCK_MONOTONIC
  std::string state, text;
};

/// A supervisor of this build over a sim-engine of this build, in folders of its own; SIGTERM when the object goes.
class Supervised {
 public:
  /// `engine`: more of the engine's command line; `profile`: more lines.
  explicit Supervised(const std::string& engine, std::vector<std::string> flags, const std::string& profile = {})
      : flags_(std::move(flags)) {
    REQUIRE(make_directories(dir_.path() / "profiles"));
    port_ = boot::free_port("127.0.0.1").value();
    REQUIRE(write_file_atomic(profile_file(),
                              "COMMAND=\"{BIN}/sim-engine --profile sim --host 127.0.0.1 --port {PORT} "
                              "--served-model-name m --max-model-len 430000 " +
                                  engine + "\"\nPORT=" + std::to_string(port_) +
                                  "\nSERVED_MODEL=m\nSTOP_GRACE_S=1\n"
                                  "NULLKNOB=0\nNULLKNOB.values='0 1'\nNULLKNOB.flag='--knob NULLKNOB={VALUE}'\n"
                                  "NULLKNOB.proof='log: ^proof NULLKNOB={VALUE}$'\n" +
                                  profile));
  }

  [[nodiscard]] std::filesystem::path profile_file() const { return dir_.path() / "profiles/lane.env"; }
  [[nodiscard]] std::filesystem::path state() const { return dir_.path() / "state"; }
  [[nodiscard]] const std::filesystem::path& dir() const { return dir_.path(); }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  [[nodiscard]] Command command(const std::string& state) const {
    Command command;
    command.argv = {std::string(BK_BIN_DIR) + "/supervisor", "--profile", profile_file().string(), "--state-dir",
                    state};
    command.argv.insert(command.argv.end(), flags_.begin(), flags_.end());
    command.env = {{"BK_LOCK_DIR", (dir_.path() / "locks").string()}};
    command.die_with_parent = true;
    return command;
  }

  void start() {
    Command c = command(state().string());
    c.output_file = (dir_.path() / "out").string();
    auto started = Process::start(c);
    REQUIRE(started);
    process_.emplace(std::move(*started));
  }

  [[nodiscard]] std::string output() const { return read_file(dir_.path() / "out").value_or("no output"); }

  [[nodiscard]] std::vector<Event> events() const {
    std::vector<Event> events;
    const std::string text = read_file(state() / "events.jsonl").value_or("");
    for (const std::string_view line : split_lines(text)) {
      const auto json = parse_json(line);
      if (!json) continue;  // still being written
      events.push_back({(*json)["monotonic_s"].as_double().value_or(0), (*json)["state"].as_string().value_or(""),
                        (*json)["event"].as_string().value_or("")});
    }
    return events;
  }

  /// The n-th event (from 1) whose text starts so; waits for it, long enough for a busy machine.
  Event wait_for(const std::string& start, int n = 1) {
    SystemClock clock;
    const Nanos limit = clock.now() + 150 * kSecond;
    while (clock.now() < limit && !process_->poll()) {
      int found = 0;
      for (const Event& event : events()) {
        if (event.text.rfind(start, 0) == 0 && ++found == n) return event;
      }
      clock.sleep_until(clock.now() + 20 * kMillisecond);
    }
    FAIL("no event '" << start << "' number " << n << " came:\n" << output());
    return {};
  }

  [[nodiscard]] int count(const std::string& start) const {
    int found = 0;
    for (const Event& event : events()) found += event.text.rfind(start, 0) == 0 ? 1 : 0;
    return found;
  }

  /// The engine: the supervisor's only child.
  [[nodiscard]] pid_t engine_pid() const {
    const std::string pid = std::to_string(process_->pid());
    const std::string children = read_file("/proc/" + pid + "/task/" + pid + "/children").value_or("");
    const auto first = parse_int(split(trim(children), ' ').front());
    REQUIRE(first);
    return static_cast<pid_t>(*first);
  }

  [[nodiscard]] Process& process() { return *process_; }

 private:
  TempDir dir_;
  std::vector<std::string> flags_;
  int port_ = 0;
  std::optional<Process> process_;
};

}  // namespace bk::supervisor::test
