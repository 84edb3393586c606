#pragma once
#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/process.h"
#include "base/result.h"

namespace bk::boot {

/// A script on a node, talked to by lines over one connection. Whatever ends this process, also kill -9, closes the
/// script's standard input: it sees the end and puts its node in order.
class Session {
 public:
  /// Starts the program; its standard error is kept for messages. With `output_file` both outputs are appended there
  /// and ask() cannot be used. kEnvironment when it cannot be run.
  [[nodiscard]] static Result<std::unique_ptr<Session>> open(std::string node, const std::vector<std::string>& argv,
                                                             const std::string& output_file = {});
  /// Closes the input, gives the script up to 10 s to end, then kills the local program.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const std::string& node() const { return node_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Writes a few lines that nobody answers. kConnect when the script is gone.
  [[nodiscard]] Status send_now(const std::string& bytes);
  /// How it ended; nothing while it runs.
  [[nodiscard]] std::optional<Exit> poll();
  /// Closes the input and waits for the end, at most `limit`; nothing when it still runs then.
  std::optional<Exit> finish(Nanos limit);

 private:
  friend class Asking;
  explicit Session(std::string node) : node_(std::move(node)) {}
  void close_input();
  /// Why nothing more came: the last line of standard error, and the exit code.
  [[nodiscard]] Error lost();

  std::string node_;
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, err_ = -1;
  std::string unsent_, unread_, errors_;
  std::optional<Exit> exit_;
};

/// What a node answered: the lines before its closing "ok". A closing "no REASON" is kRefused with that reason, an end
/// without either kConnect.
using Answer = Result<std::vector<std::string>>;

/// Sends each session its request and collects the answers of all, in the order given. A node that has not answered
/// after `limit` gives kTimeout; once `interrupted` says so, every missing answer is kInterrupted.
[[nodiscard]] std::vector<Answer> ask(const std::vector<Session*>& sessions, const std::vector<std::string>& requests,
                                      Nanos limit, const std::function<bool()>& interrupted = {});

}  // namespace bk::boot
