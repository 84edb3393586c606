#include "script_server.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "base/check.h"

namespace bk::test {
namespace {

int listen_on_loopback(int* port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  BK_CHECK(bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0);
  BK_CHECK(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  *port = ntohs(address.sin_port);
  return fd;
}

int listen_on_path(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  BK_CHECK(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  return fd;
}

}  // namespace

std::string read_request(int fd) {
  std::string text;
  char buffer[16384];
  while (true) {
    const std::size_t end = text.find("\r\n\r\n");
    if (end != std::string::npos) {
      const std::size_t length = text.find("Content-Length: ");
      const std::size_t body = length < end ? std::strtoul(text.c_str() + length + 16, nullptr, 10) : 0;
      if (text.size() >= end + 4 + body) return text;
    }
    const ssize_t n = recv(fd, buffer, sizeof buffer, 0);
    if (n <= 0) return {};
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

void send_all(int fd, const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = send(fd, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (n <= 0) return;
    at += static_cast<std::size_t>(n);
  }
}

void send_apart(int fd, const std::vector<std::string>& parts) {
  const int at_once = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  for (const std::string& part : parts) {
    send_all(fd, part);
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
}

void reset_after_reading(int fd) {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const linger now{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

std::string whole_answer(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

std::string stream_head() {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
}

std::string chunk(const std::string& bytes) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return size + bytes + "\r\n";
}

ScriptServer::ScriptServer(Serve serve, const std::string& unix_path) : serve_(std::move(serve)) {
  listener_ = unix_path.empty() ? listen_on_loopback(&port_) : listen_on_path(unix_path);
  BK_CHECK(listen(listener_, 128) == 0);
  acceptor_ = std::thread([this] { accept_all(); });
}

void ScriptServer::accept_all() {
  while (true) {
    const int fd = accept(listener_, nullptr, nullptr);
    if (fd < 0) return;
    const int number = connections_++;
    const std::lock_guard lock(mutex_);
    open_.push_back(fd);
    servers_.emplace_back([this, fd, number] {
      serve_(fd, number);
      const std::lock_guard closing(mutex_);
      std::erase(open_, fd);
      close(fd);
    });
  }
}

ScriptServer::~ScriptServer() {
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close(listener_);
  {
    const std::lock_guard lock(mutex_);
    for (const int fd : open_) shutdown(fd, SHUT_RDWR);
  }
  for (std::thread& server : servers_) server.join();
}

std::string ScriptServer::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

int closed_port() {
  int port = 0;
  close(listen_on_loopback(&port));
  return port;
}

}  // namespace bk::test
