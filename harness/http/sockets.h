#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bk::http {

class Transfer;

/// What is known of one of our file descriptors.
struct Socket {
  std::string peer;          ///< "host:port" or the unix path that it was opened for; empty: not one of ours
  std::uint32_t events = 0;  ///< as watched by the poller
  bool watched = false;
  bool stamps = false;            ///< TCP, whose packets the kernel stamps
  int local_port = 0;             ///< of a connection that was kept
  bool busy = false;              ///< a transfer is on it
  bool keep = false;              ///< when libcurl closes it, keep it open: it stands for a later transfer
  std::size_t typical_bytes = 0;  ///< of one write of the peer's, as receive_stamp.h learns it
  Transfer* streams = nullptr;    ///< whose chunked answer comes here
  unsigned window = 0;            ///< wake_sharing window in which it was last ready
};

/// Every open socket by descriptor, and those that stand connected for a transfer to come.
class Sockets {
 public:
  Socket& at(int fd);
  void opened(int fd, const std::string& peer, bool stamps);
  /// libcurl gives the descriptor up: closes it, or puts it among the standing ones.
  void given_up(int fd);
  /// Takes a standing connection to `peer` that is still alive, or -1.
  [[nodiscard]] int take_standing(const std::string& peer);
  /// Live connections to `peer` that no transfer is on.
  [[nodiscard]] std::size_t idle(const std::string& peer) const;
  /// Bytes wait on the idle connection from this port: a request sent there would take them for its answer.
  [[nodiscard]] bool unasked_waits(const std::string& peer, int local_port) const;
  void close_standing();

 private:
  std::vector<Socket> sockets_;
  std::map<std::string, std::vector<int>> standing_;
};

}  // namespace bk::http
