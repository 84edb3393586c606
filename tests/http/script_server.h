#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace bk::test {

/// Reads one whole HTTP/1.1 request (head and Content-Length body); empty when the client closed.
std::string read_request(int fd);
/// Writes all bytes; errors are ignored, as the client may be gone by then.
void send_all(int fd, const std::string& bytes);
/// Each part in a packet of its own.
void send_apart(int fd, const std::vector<std::string>& parts);
/// The connection will be reset, not ended, when it is closed; not before the client could read what was sent.
void reset_after_reading(int fd);
/// A 200 with a Content-Length body.
std::string whole_answer(const std::string& body);
/// The head of a chunked event stream, one chunk of it, and its end.
std::string stream_head();
std::string chunk(const std::string& bytes);
inline const char* const kStreamEnd = "0\r\n\r\n";

/// A raw TCP (or unix) server on loopback: `serve` is called on a thread of its own for each connection, with its
/// number from 0, and the connection is closed when it returns.
class ScriptServer {
 public:
  using Serve = std::function<void(int fd, int number)>;
  explicit ScriptServer(Serve serve, const std::string& unix_path = {});
  ~ScriptServer();
  [[nodiscard]] std::string url(const std::string& path = "/v1/chat/completions") const;
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] int connections() const { return connections_; }

 private:
  void accept_all();
  Serve serve_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> connections_{0};
  std::mutex mutex_;
  std::vector<int> open_;
  std::vector<std::thread> servers_;
  std::thread acceptor_;
};

/// A loopback port that nobody listens on.
int closed_port();

}  // namespace bk::test
