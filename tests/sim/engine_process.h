#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/process.h"

namespace bk::sim::testing {

/// One HTTP exchange's bytes, and the body with chunks undone.
struct Answer {
  int status = 0;
  std::string head, body;
  bool complete = false;  ///< the end that its framing asks for came
  [[nodiscard]] Json json() const;
  /// The data of each event, [DONE] included.
  [[nodiscard]] std::vector<std::string> events() const;
};

/// A sim-engine process on a free port, ended with the object.
class EngineProcess {
 public:
  explicit EngineProcess(const std::vector<std::string>& flags = {},
                         const std::map<std::string, std::string>& env = {});
  [[nodiscard]] Answer get(const std::string& path) const { return exchange("GET", path, {}); }
  [[nodiscard]] Answer post(const std::string& path, const std::string& body, const std::string& headers = {}) const {
    return exchange("POST", path, body, headers);
  }
  [[nodiscard]] Answer exchange(const std::string& method, const std::string& path, const std::string& body,
                                const std::string& headers = {}) const;
  /// A socket with the request written, for tests that hold several open.
  [[nodiscard]] int open(const std::string& method, const std::string& path, const std::string& body,
                         const std::string& headers = {}) const;
  [[nodiscard]] Json truth() const { return get("/sim/truth").json(); }
  [[nodiscard]] double metric(const std::string& name) const;  ///< summed over labels, exact name
  [[nodiscard]] std::string log() const;
  [[nodiscard]] Exit stop() { return process_->stop(5 * kSecond); }
  [[nodiscard]] Exit wait() { return process_->wait(); }
  [[nodiscard]] int port() const { return port_; }

 private:
  TempDir dir_;
  std::optional<Process> process_;
  int port_ = 0;
};

/// Everything that comes until the server closes.
[[nodiscard]] Answer read_answer(int fd);
[[nodiscard]] std::string chat_body(const std::string& prompt, const std::string& more);

}  // namespace bk::sim::testing
