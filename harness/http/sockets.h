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
  bool bare = false;              ///< what comes on it is HTTP/1, bare of TLS
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
  /// Ends every idle bare connection on which bytes wait: a request sent there would take for its answer what came
  /// before it.
  void end_unclean();
  void close_standing();

 private:
  std::vector<Socket> sockets_;
  std::map<std::string, std::vector<int>> standing_;
};

}  // namespace bk::http
