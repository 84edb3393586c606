#include "http_server.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/socket_stamp.h"

namespace bk::sim {

class HttpServer::Listener final : public Watcher {
 public:
  Listener(HttpServer& server, int fd, bool tcp) : server_(server), fd_(fd), tcp_(tcp) {
    server_.loop_.watch(fd_, EPOLLIN, this);
  }
  ~Listener() override { close(fd_); }
  void on_ready(std::uint32_t) override { server_.accept_all(fd_, tcp_); }

 private:
  HttpServer& server_;
  int fd_;
  bool tcp_;
};

HttpServer::HttpServer(Loop& loop, RequestHandler& handler) : loop_(loop), handler_(handler) {}

HttpServer::~HttpServer() {
  if (!unix_path_.empty()) unlink(unix_path_.c_str());
}

Result<int> HttpServer::listen_tcp(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE;
  addrinfo* found = nullptr;
  const std::string where = fmt::format("{}:{}", host, port);
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    return fail(Errc::kUsage, "--host takes a numeric address such as 127.0.0.1", where);
  }
  const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int one = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  enable_receive_stamps(fd);
  const bool bound = fd >= 0 && bind(fd, found->ai_addr, found->ai_addrlen) == 0 && listen(fd, 16384) == 0;
  const int reason = errno;
  freeaddrinfo(found);
  if (!bound) {
    close(fd);
    return fail(Errc::kEnvironment,
                fmt::format("cannot listen: {}; choose another --port, or 0 for any", std::strerror(reason)), where);
  }
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  listeners_.push_back(std::make_unique<Listener>(*this, fd, true));
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

Status HttpServer::listen_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return fail(Errc::kUsage, "path too long for a unix socket", path);
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(fd, 16384) != 0) {
    const int reason = errno;
    close(fd);
    return fail(Errc::kEnvironment, fmt::format("cannot listen: {}", std::strerror(reason)), path);
  }
  unix_path_ = path;
  listeners_.push_back(std::make_unique<Listener>(*this, fd, false));
  return {};
}

void HttpServer::accept_all(int listen_fd, bool tcp) {
  while (true) {
    const int fd = accept4(listen_fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    const int one = 1;
    if (tcp) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    const std::uint64_t id = next_id_++;
    auto connection = std::make_unique<Connection>(*this, fd, id);
    loop_.watch(fd, EPOLLIN | EPOLLRDHUP, connection.get());
    connections_.emplace(id, std::move(connection));
  }
}

Connection* HttpServer::find(std::uint64_t id) {
  const auto found = connections_.find(id);
  return found == connections_.end() ? nullptr : found->second.get();
}

// The object goes after the current batch of events, which may still name it.
void HttpServer::drop(std::uint64_t id, bool unfinished) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  std::shared_ptr<Connection> dying = std::move(found->second);
  connections_.erase(found);
  dying->closed_ = true;
  loop_.unwatch(dying->fd_);
  loop_.later([dying] {});
  if (unfinished) handler_.on_gone(id);
}

}  // namespace bk::sim
