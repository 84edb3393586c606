// The transport's parts that need no network.
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

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

// `streams` sockets with `per_second` events each: wakes for a second, and the hold that results.
Nanos settled_hold(std::size_t streams, double per_second, bool stamps) {
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
    hold = sharing.after_wake(now, ready, fresh, stamps ? ready : 0);
  }
  return hold;
}

TEST_CASE("Wakes are shared by many streams only, and only where stamps keep the times") {
  CHECK(settled_hold(1, 500, true) == 0);
  CHECK(settled_hold(1, 50'000, true) == 0);
  CHECK(settled_hold(8, 50, true) == 0);
  const Nanos shared = settled_hold(64, 200, true);
  CHECK(shared > 400 * kMicrosecond);
  CHECK(shared < 600 * kMicrosecond);
  CHECK(settled_hold(64, 200, false) == 0);
  CHECK(settled_hold(10'000, 5, true) <= kMillisecond);
}

TEST_CASE("Peeking sees what waits and takes nothing") {
  int pair[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  CHECK(peek(pair[1]).bytes == -1);
  REQUIRE(write(pair[0], "hello", 5) == 5);
  CHECK(peek(pair[1]).bytes > 0);
  char bytes[8];
  CHECK(read(pair[1], bytes, sizeof bytes) == 5);
  close(pair[0]);
  CHECK(peek(pair[1]).bytes == 0);
  close(pair[1]);
}

TEST_CASE("A wall stamp turns into this machine's monotonic time") {
  StampClock clock;
  clock.refresh();
  const Nanos at = clock.to_monotonic(wall_now());
  CHECK(at >= clock.now());
  CHECK(at - clock.now() < 50 * kMillisecond);
  CHECK(clock.to_monotonic(wall_now() - 3600 * kSecond) == 0);
  CHECK(clock.to_monotonic(wall_now() + 3600 * kSecond) == 0);
}

}  // namespace
}  // namespace bk::http
