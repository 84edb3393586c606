// The transport's parts that need no network.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "base/socket_stamp.h"
#include "http/deadlines.h"
#include "http/peer.h"
#include "http/receive_stamp.h"
#include "http/wake_sharing.h"

namespace bk::http {
namespace {

TEST_CASE("A URL's peer carries no secret") {
  struct Case {
    const char *url, *peer, *user, *printable;
  };
  const auto c = GENERATE(values<Case>({
      {"http://127.0.0.1:8000/v1?key=1", "127.0.0.1:8000", "", "http://127.0.0.1:8000/v1"},
      {"https://Host.Example/v1", "host.example:443", "", "https://Host.Example/v1"},
      {"http://user:p@ss@host", "host:80", "user:p@ss", "http://host"},
      {"http://[::1]:9/x", "[::1]:9", "", "http://[::1]:9/x"},
      {"http://[fe80::1]/x", "[fe80::1]:80", "", "http://[fe80::1]/x"},
      {"http://h/?u=a@b", "h:80", "", "http://h/"},
  }));
  CHECK(peer_of(c.url) == c.peer);
  CHECK(user_info_of(c.url) == c.user);
  CHECK(printable(c.url) == c.printable);
}

TEST_CASE("Only without TLS, a proxy or a unix socket are the bytes on the socket the host's HTTP") {
  TransportOptions options;
  CHECK(bare_tcp("http://host/v1", options));
  CHECK_FALSE(bare_tcp("https://host/v1", options));
  SECTION("a proxy may itself be reached over TLS") { options.use_proxy_env = true; }
  SECTION("unix socket") { options.unix_socket = "/run/engine.sock"; }
  CHECK(bare_tcp("http://host/v1", options) == (!options.use_proxy_env && options.unix_socket.empty()));
}

TEST_CASE("Deadlines come in order of time") {
  Deadlines deadlines;
  CHECK_FALSE(deadlines.next());
  deadlines.add(30, 3);
  deadlines.add(10, 1);
  deadlines.add(20, 2);
  CHECK(deadlines.next() == 10);
  CHECK(deadlines.take_due(9) == std::nullopt);
  CHECK(deadlines.take_due(25) == 1);
  CHECK(deadlines.take_due(25) == 2);
  CHECK(deadlines.take_due(25) == std::nullopt);
}

// `streams` sockets with `per_second` events each: wakes for a second, and the hold that results when nothing has come
// for the last `quiet`.
Nanos settled_hold(std::size_t streams, double per_second, bool stamps, Nanos quiet = 50 * kMicrosecond) {
  WakeSharing sharing;
  Nanos hold = 0;
  const Nanos step = 500 * kMicrosecond;
  double due = 0;
  std::size_t seen_in_window = 0;
  unsigned window = sharing.window();
  for (Nanos now = kSecond; now < 2 * kSecond; now += step) {
    due += static_cast<double>(streams) * per_second * to_s(step);
    const auto ready = static_cast<std::size_t>(due);
    due -= static_cast<double>(ready);
    if (sharing.window() != window) seen_in_window = 0;
    window = sharing.window();
    const std::size_t fresh = std::min(ready, streams - std::min(seen_in_window, streams));
    seen_in_window += fresh;
    hold = sharing.after_wake(now, ready, fresh, stamps ? ready : 0, now - quiet);
  }
  return hold;
}

TEST_CASE("Wakes are shared by many streams only, and only where stamps keep the times") {
  CHECK(settled_hold(1, 500, true) == 0);
  CHECK(settled_hold(1, 50'000, true) == 0);
  CHECK(settled_hold(8, 50, true) == 0);
  const Nanos shared = settled_hold(64, 200, true);
  CHECK(shared > 900 * kMicrosecond);
  CHECK(shared <= kMillisecond);
  CHECK(settled_hold(64, 200, false) == 0);
  CHECK(settled_hold(64, 200, true, 400 * kMicrosecond) == shared);
  CHECK(settled_hold(64, 200, true, 600 * kMicrosecond) == 0);  // the row of writes has ended
  CHECK(settled_hold(10'000, 5, true) <= kMillisecond);
}

/// Two ends of a loopback TCP connection.
struct TcpPair {
  TcpPair() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(listen(listener, 1) == 0);
    REQUIRE(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    ours = socket(AF_INET, SOCK_STREAM, 0);
    enable_receive_stamps(ours);
    REQUIRE(connect(ours, reinterpret_cast<sockaddr*>(&address), size) == 0);
    theirs = accept(listener, nullptr, nullptr);
    close(listener);
  }
  ~TcpPair() {
    close(ours);
    close(theirs);
  }
  void send(std::size_t bytes) const {
    const std::string text(bytes, 'x');
    REQUIRE(write(theirs, text.data(), bytes) == static_cast<ssize_t>(bytes));
  }
  void read_all() const {
    char buffer[4096];
    REQUIRE(recv(ours, buffer, sizeof buffer, 0) > 0);
  }
  int ours = -1, theirs = -1;
};

TEST_CASE("Peeking sees what waits and takes nothing") {
  TcpPair pair;
  CHECK(peek(pair.ours).bytes == -1);
  pair.send(5);
  CHECK(peek(pair.ours).bytes == 5);
  CHECK(peek(pair.ours, 2).bytes == 2);
  CHECK(peek(pair.ours).bytes == 5);
  pair.read_all();
  shutdown(pair.theirs, SHUT_WR);
  CHECK(peek(pair.ours).bytes == 0);
}

TEST_CASE("A read's bytes carry the kernel's times, a backlog's one by one") {
  const TcpPair pair;
  StampClock clock;
  ReadStamps stamps;
  std::size_t typical = 0;
  const Nanos begin = monotonic_now();
  usleep(20'000);  // the kernel starts to stamp a moment after it was first asked to
  pair.send(207);
  clock.refresh();
  stamps.look(pair.ours, clock, &typical);
  REQUIRE(stamps.stamped());
  CHECK(typical == 207);
  const Nanos first = stamps.take(200);
  CHECK(first > begin);
  CHECK(first <= monotonic_now());
  CHECK(stamps.take(200) == 0);  // more than waited at the look: it came later
  pair.read_all();

  Nanos before = first;
  for (int i = 0; i < 3; ++i) {
    usleep(3'000);
    pair.send(207);
  }
  clock.refresh();
  stamps.look(pair.ours, clock, &typical);
  CHECK(typical < 2 * 207);  // also where the kernel has joined the three
  for (int i = 0; i < 3; ++i) {
    const Nanos at = stamps.take(200);
    CHECK(at >= before);
    CHECK(at <= monotonic_now());
    before = at;
  }
  CHECK(before == stamps.newest());
  pair.read_all();
  stamps.clear();
  CHECK(stamps.take(1) == 0);
}

TEST_CASE("A wall stamp turns into this machine's monotonic time") {
  StampClock clock;
  clock.refresh();
  const Nanos at = clock.to_monotonic(wall_now());
  // The two clocks are read one after the other: they agree to that, not to the nanosecond.
  CHECK(at > clock.now() - kMillisecond);
  CHECK(at < clock.now() + 50 * kMillisecond);
  CHECK(clock.to_monotonic(wall_now() - 3600 * kSecond) == 0);
  CHECK(clock.to_monotonic(wall_now() + 3600 * kSecond) == 0);
}

}  // namespace
}  // namespace bk::http
