#include "http/sockets.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "http/receive_stamp.h"

namespace bk::http {
namespace {
// Idle connections have nothing to say: bytes that wait, or an end, make one useless.
bool alive(int fd) {
  char byte = 0;
  return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}
}  // namespace

Socket& Sockets::at(int fd) {
  const auto index = static_cast<std::size_t>(fd);
  if (index >= sockets_.size()) sockets_.resize(index + 64);
  return sockets_[index];
}

void Sockets::opened(int fd, const std::string& peer, bool stamps) {
  at(fd) = Socket{};
  at(fd).peer = peer;
  at(fd).stamps = stamps;
}

void Sockets::given_up(int fd) {
  Socket& socket = at(fd);
  if (socket.keep) {
    socket.keep = socket.busy = socket.watched = false;
    standing_[socket.peer].push_back(fd);
    return;
  }
  socket = Socket{};
  close(fd);
}

int Sockets::take_standing(const std::string& peer) {
  auto& standing = standing_[peer];
  while (!standing.empty()) {
    const int fd = standing.back();
    standing.pop_back();
    if (alive(fd)) return fd;
    given_up(fd);
  }
  return -1;
}

std::size_t Sockets::idle(const std::string& peer) const {
  std::size_t count = 0;
  for (std::size_t fd = 0; fd < sockets_.size(); ++fd) {
    const Socket& socket = sockets_[fd];
    if (socket.peer == peer && !socket.busy && alive(static_cast<int>(fd))) ++count;
  }
  return count;
}

bool Sockets::unasked_waits(const std::string& peer, int local_port) const {
  for (std::size_t fd = 0; fd < sockets_.size(); ++fd) {
    const Socket& socket = sockets_[fd];
    if (socket.local_port != local_port || socket.busy || socket.peer != peer) continue;
    return peek(static_cast<int>(fd), 1).bytes > 0;
  }
  return false;
}

void Sockets::close_standing() {
  for (auto& [peer, standing] : standing_) {
    for (const int fd : standing) given_up(fd);
    standing.clear();
  }
}

}  // namespace bk::http
