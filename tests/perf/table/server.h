#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "base/result.h"

namespace bk::perf {

/// A sim-engine of its own process that answers by a script.
class Server {
 public:
  /// `engine`: path of the program; `script`: its lines. kEnvironment when it does not come up within seconds.
  static Result<std::unique_ptr<Server>> start(const std::string& engine, const std::string& script);
  /// The same with the engine's own answers and these flags.
  static Result<std::unique_ptr<Server>> start_engine(const std::string& engine, const std::vector<std::string>& flags);
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] std::string chat_url() const { return url_ + "/v1/chat/completions"; }
  /// What /sim/truth says.
  [[nodiscard]] Result<Json> truth() const;

 private:
  explicit Server(Process process) : process_(std::move(process)) {}
  Process process_;
  std::string url_;
};

/// A script line that streams `events` chunks, `every_ms` apart, the first after `first_ms`; phases spread evenly.
[[nodiscard]] std::string stream_script(const std::string& path, double first_ms, double every_ms, int events);

/// Script lines that send `events` events as fast as the socket takes them, `per_write` in each write.
[[nodiscard]] std::string flood_script(const std::string& path, int events, int per_write);

}  // namespace bk::perf
