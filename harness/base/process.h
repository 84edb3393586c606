#pragma once
#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace bk {

/// What to run. No shell is involved: argv goes to execvpe as it stands.
struct Command {
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;  ///< added to (and replacing) the caller's environment
  std::string cwd;                         ///< empty: the caller's
  std::string output_file;                 ///< stdout and stderr appended there; empty: inherited
  bool die_with_parent = false;            ///< SIGTERM when the thread that started it ends, also by kill -9
};

/// How a process ended: its exit code, or 128 + the signal that ended it.
struct Exit {
  int code = 0;
  [[nodiscard]] bool ok() const { return code == 0; }
};

/// A child in a process group of its own. Destroying it kills the group (SIGTERM, 2 s, SIGKILL).
class Process {
 public:
  /// kEnvironment when the program cannot be executed (the reason of execve is given).
  static Result<Process> start(const Command& command);
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Nothing while it runs.
  [[nodiscard]] std::optional<Exit> poll();
  [[nodiscard]] Exit wait();
  /// SIGTERM to the group, SIGKILL after `grace`; reaps it. Gives how it ended.
  Exit stop(Nanos grace);

 private:
  explicit Process(pid_t pid) : pid_(pid) {}
  pid_t pid_ = -1;
  std::optional<Exit> exit_;
};

struct Captured {
  Exit exit;
  std::string out;  ///< stdout
  std::string err;  ///< stderr
};

/// Runs to its end and keeps what it wrote. kTimeout when it outlasts `limit` (it is killed then).
[[nodiscard]] Result<Captured> run_captured(const Command& command, Nanos limit, const std::string& input = {});

}  // namespace bk
