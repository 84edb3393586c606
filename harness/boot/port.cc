#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "boot/launcher.h"

namespace bk::boot {
namespace {

namespace fs = std::filesystem;

/// 0 when the port can be bound and listened on, else errno; -1 when the host is no local address.
int try_listen(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* list = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list) != 0 || list == nullptr) return -1;
  const int fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int reason = fd < 0 ? errno : 0;
  const int on = 1;
  if (reason == 0 && (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
                      bind(fd, list->ai_addr, list->ai_addrlen) != 0 || listen(fd, 1) != 0)) {
    reason = errno;
  }
  if (fd >= 0) close(fd);
  freeaddrinfo(list);
  return reason;
}

/// Inode of a socket that listens on `port`, from /proc/net/tcp and tcp6.
std::optional<std::string> listening_inode(int port) {
  const std::string wanted = fmt::format("{:04X}", port);
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream in(table);
    std::string line;
    while (std::getline(in, line)) {
      std::istringstream fields(line);
      std::string slot, local, remote, state, queues, timer, retransmit, uid, timeout, inode;
      fields >> slot >> local >> remote >> state >> queues >> timer >> retransmit >> uid >> timeout >> inode;
      const std::size_t colon = local.rfind(':');
      if (state == "0A" && colon != std::string::npos && local.substr(colon + 1) == wanted) return inode;
    }
  }
  return {};
}

bool holds_socket(const fs::path& process, const std::string& wanted) {
  std::error_code error;
  for (fs::directory_iterator it(process / "fd", error), end; !error && it != end; it.increment(error)) {
    std::error_code unreadable;
    if (fs::read_symlink(it->path(), unreadable) == wanted) return true;
  }
  return false;
}

/// "name (pid N)" of the process that listens on the port, when this user may see it.
std::optional<std::string> port_holder(int port) {
  const auto inode = listening_inode(port);
  if (!inode) return {};
  std::error_code error;
  for (fs::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
    const std::string pid = it->path().filename().string();
    if (!parse_int(pid) || !holds_socket(it->path(), "socket:[" + *inode + "]")) continue;
    const auto name = read_file(it->path() / "comm");
    return fmt::format("{} (pid {})", name ? std::string(trim(*name)) : "a process", pid);
  }
  return {};
}

}  // namespace

Status check_port_free(const std::string& host, int port) {
  const int reason = try_listen(host, port);
  if (reason == 0) return {};
  const std::string where = fmt::format("{}:{}", host, port);
  if (reason < 0) return fail(Errc::kEnvironment, fmt::format("HOST {} is no address of this machine", host), where);
  if (reason != EADDRINUSE)
    return fail(Errc::kEnvironment, fmt::format("cannot listen on port {}: {}", port, std::strerror(reason)), where);
  const auto holder = port_holder(port);
  return fail(
      Errc::kEnvironment,
      fmt::format("port {} is taken by {}: stop it, or choose another port", port, holder.value_or("another process")),
      where);
}

Result<int> free_port(const std::string& host) {
  // Below the range from which the kernel takes ports for outgoing connections; two runs start at different places.
  constexpr int kFirst = 18000;
  constexpr int kCount = 12000;
  const auto start = static_cast<int>((monotonic_now() / kMicrosecond + getpid() * 7919L) % kCount);
  for (int i = 0; i < kCount; ++i) {
    const int port = kFirst + (start + i) % kCount;
    const int reason = try_listen(host, port);
    if (reason == 0) return port;
    if (reason != EADDRINUSE) BK_TRY(check_port_free(host, port));
  }
  return fail(Errc::kEnvironment, fmt::format("no free port from {} to {}", kFirst, kFirst + kCount - 1), host);
}

}  // namespace bk::boot
