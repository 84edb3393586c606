#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/process.h"

/// A real PostgreSQL server of Debian's package, for one test: its own data directory, a socket in it, no port.
namespace bk::postgres_test {

/// Where the server's programs lie; nothing when the package is not installed.
[[nodiscard]] std::optional<std::filesystem::path> programs();

class Server {
 public:
  Server();
  [[nodiscard]] const std::string& url() const { return url_; }
  /// Ends it as a crash would.
  void kill();
  void start();

 private:
  TempDir dir_;
  std::string url_;
  std::optional<Process> process_;
};

}  // namespace bk::postgres_test
