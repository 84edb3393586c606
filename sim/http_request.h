#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace bk::sim {

struct HttpRequest {
  std::string method, path, query;
  std::vector<std::pair<std::string, std::string>> headers;  ///< names in lower case
  std::string body;
  bool keep_alive = true;
  Nanos arrived = 0;   ///< when its first bytes had reached this machine
  Nanos received = 0;  ///< when its last byte had been read

  /// The header's value, or nullptr.
  [[nodiscard]] const std::string* header(std::string_view lower_name) const;
};

/// Reads HTTP/1.x requests from bytes that come in any pieces. Pure.
class HttpRequestReader {
 public:
  enum class State { kMore, kComplete, kBad };
  /// Adds bytes.
  void feed(std::string_view bytes) { buffer_.append(bytes); }
  /// Tries to take one request off the front. kBad: not HTTP, or larger than the limits (16 KiB head, 64 MiB body).
  [[nodiscard]] State take(HttpRequest& out);
  /// True once after a head with "Expect: 100-continue" whose body has not come yet.
  [[nodiscard]] bool take_expect();

 private:
  [[nodiscard]] State parse_head();
  [[nodiscard]] State take_body(HttpRequest& out);
  [[nodiscard]] State take_chunks();
  std::string buffer_;
  std::optional<HttpRequest> head_;
  std::size_t body_bytes_ = 0;
  bool chunked_ = false, expect_ = false;
};

}  // namespace bk::sim
