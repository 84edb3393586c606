#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "http_request.h"
#include "loop.h"

namespace bk::sim {

class HttpServer;

/// One client connection. Lives until it is closed by either side; handlers keep its id, never its address.
class Connection final : public Watcher {
 public:
  Connection(HttpServer& server, int fd, std::uint64_t id) : server_(server), fd_(fd), id_(id) {}
  ~Connection() override;
  [[nodiscard]] std::uint64_t id() const { return id_; }

  /// Writes right away what the socket takes and the rest when it can.
  /// @return the time just before the write, CLOCK_MONOTONIC.
  Nanos send(std::string_view bytes);
  /// A whole response with Content-Length, then finish().
  Nanos respond(int status, std::string_view content_type, std::string_view body, std::string_view extra_headers = {});
  /// The head of a chunked response; the body follows through send_chunk() and end_chunks().
  Nanos begin_chunked(int status, std::string_view content_type, std::string_view extra_headers = {});
  Nanos send_chunk(std::string_view body);
  void end_chunks();
  /// The response is complete: the next request is read, or the connection closed as the client asked.
  void finish();
  /// Closes at once, without the end that framing asks for.
  void cut();
  void on_ready(std::uint32_t events) override;

 private:
  friend class HttpServer;
  void read_some();
  void serve_next();
  void flush();
  HttpServer& server_;
  int fd_;
  std::uint64_t id_;
  HttpRequestReader reader_;
  std::string unsent_;
  Nanos arrived_ = 0;  // of the first bytes of the next request; 0: none yet
  bool busy_ = false, keep_alive_ = true, closing_ = false, writable_wanted_ = false, closed_ = false;
};

class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  virtual void on_request(Connection& connection, HttpRequest request) = 0;
  /// The client went away (or the connection was cut) before its response was finished.
  virtual void on_gone(std::uint64_t connection_id) = 0;
};

/// Listens on TCP and, when asked, on a unix socket, and hands requests to one handler.
class HttpServer {
 public:
  HttpServer(Loop& loop, RequestHandler& handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Port 0 picks a free one. Gives the port. kEnvironment when the address is taken.
  Result<int> listen_tcp(const std::string& host, int port);
  Status listen_unix(const std::string& path);
  /// nullptr once it has gone.
  [[nodiscard]] Connection* find(std::uint64_t id);

 private:
  friend class Connection;
  class Listener;
  void accept_all(int listen_fd, bool tcp);
  void drop(std::uint64_t id, bool unfinished);
  Loop& loop_;
  RequestHandler& handler_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::uint64_t next_id_ = 1;
  std::string unix_path_;
};

[[nodiscard]] const char* status_text(int status);

}  // namespace bk::sim
