#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace bk::http {

/// Limits per phase; 0 means none.
struct Timeouts {
  Nanos connect = 10 * kSecond;
  Nanos first_byte = 0;  ///< from sent to the first byte of the response
  Nanos idle = 0;        ///< between two reads
  Nanos total = 0;
};

struct Request {
  std::string method = "POST";
  std::string url;  ///< http:// or https://
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  Timeouts timeouts;
};

/// Connection settings that hold for a whole transport.
struct TransportOptions {
  std::string unix_socket;     ///< path; empty: TCP
  std::string ca_file;         ///< empty: the system's
  bool http2 = false;          ///< negotiate HTTP/2 over TLS (or with prior knowledge on plain http)
  bool use_proxy_env = false;  ///< honour http_proxy and friends; off, they are ignored
  bool reuse_connections = true;
  std::function<bool()> stopped;  ///< polled by what waits for a single answer; empty: never
};

/// How a transfer ended.
struct End {
  enum class Kind { kComplete, kCut, kConnectFailed, kTimedOut, kCancelled, kProtocol };
  Kind kind = Kind::kComplete;
  std::string message;  ///< one line; empty when complete
  Nanos at = 0;
};

/// Receives one transfer's life, in this order; every call on the thread that runs the transport.
class Handler {
 public:
  virtual ~Handler() = default;
  /// The request's first byte was written, on a connection that stands. `connect` is 0 on a reused connection.
  virtual void on_sent(Nanos at, Nanos connect, bool reused) = 0;
  virtual void on_headers(int status, const std::vector<std::pair<std::string, std::string>>& headers, Nanos at) = 0;
  /// Body bytes, transfer coding undone, with the time of their arrival (never later than the call).
  virtual void on_bytes(std::string_view bytes, Nanos arrival) = 0;
  /// A reused connection ended before any byte came; the request is sent once more. Forget what on_sent said.
  virtual void on_reopened() {}
  virtual void on_end(const End& end) = 0;
};

using TransferId = std::uint64_t;

/// Runs many transfers on one thread.
class Transport {
 public:
  virtual ~Transport() = default;
  /// Begins a transfer; `handler` must outlive it. Nothing is called back before run().
  virtual TransferId start(Request request, Handler* handler) = 0;
  virtual void cancel(TransferId id) = 0;
  /// Serves transfers until none is left or `until` (absolute; 0: no limit) has passed. Gives the number still running.
  virtual std::size_t run(Nanos until) = 0;
  /// Opens a connection to the URL's host that a later transfer can use, so that its clock starts on a standing one.
  /// Bare TCP for http://; over TLS or a unix socket a `GET /` is sent, since only a used connection can be kept. Not
  /// from a Handler.
  virtual Status preconnect(const std::string& url, int connections) = 0;
  /// The longest time that ready data waited for this thread, in nanoseconds, since the last call.
  virtual Nanos take_worst_delay() { return 0; }
  /// Whoever waits for a single answer shall give up now.
  [[nodiscard]] virtual bool stopped() const { return false; }
};

/// A transport over libcurl and epoll.
[[nodiscard]] std::unique_ptr<Transport> make_curl_transport(const TransportOptions& options = {});

struct Response {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

/// One request, whole, waited for. Any status is a Response; kConnect, kTimeout, kHttp (cut, compressed, longer than
/// 64 MiB) or, once the transport is stopped, kInterrupted otherwise.
[[nodiscard]] Result<Response> fetch(Transport& transport, Request request);
/// What to say of an answer in this Content-Encoding: none was asked for, and none can be read.
[[nodiscard]] std::string encoded_answer(const std::string& encoding);
/// What to say of an answer that sends elsewhere (3xx with a Location), which is not followed; empty of any other.
[[nodiscard]] std::string redirected_answer(int status,
                                            const std::vector<std::pair<std::string, std::string>>& headers);

}  // namespace bk::http
