// Connections that fail, that are used both ways at once, or on which too much comes.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "recorder.h"
#include "script_server.h"

namespace bk::test {
namespace {

using http::End;
using Parts = std::vector<std::string>;

TEST_CASE("A stream that is reset says so, and is never whole") {
  const auto [name, bytes] = GENERATE(
      table<std::string, std::string>({{"in a chunk", stream_head() + "40\r\ndata: "},
                                       {"between chunks", stream_head() + chunk("data: {}\n\n")},
                                       {"before the last line", stream_head() + chunk("data: {}\n\n") + "0\r\n"},
                                       {"short of its length", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"},
                                       {"no length", "HTTP/1.1 200 OK\r\n\r\ndata: {}\n\n"}}));
  CAPTURE(name);
  const bool apart = GENERATE(false, true);
  ScriptServer server([&bytes = bytes, apart](int fd, int) {
    read_request(fd);
    const std::size_t head = bytes.find("\r\n\r\n") + 4;
    send_apart(fd, apart ? Parts{bytes.substr(0, head), bytes.substr(head)} : Parts{bytes});
    reset_after_reading(fd);
  });
  const auto transport = http::make_curl_transport();
  const Recorder r = run_one(*transport, request_to(server.url()));
  CHECK(r.ends == 1);
  CHECK(r.end.kind == End::Kind::kCut);
  CHECK(r.says("reset"));
}

TEST_CASE("An answer that begins before its request is all sent does not stop the sending") {
  const std::string body(std::size_t{8} << 20, 'x');
  std::size_t received = 0;
  ScriptServer server([&received](int fd, int) {
    send_apart(fd, {stream_head(), chunk("one"), chunk("two")});
    received = read_request(fd).size();
    send_apart(fd, {chunk("three"), kStreamEnd});
  });
  const auto transport = http::make_curl_transport();
  const Recorder r = run_one(*transport, request_to(server.url(), body));
  INFO(r.end.message);
  CHECK(r.complete());
  CHECK(r.body == "onetwothree");
  CHECK(received > body.size());
}

TEST_CASE("What comes unasked on a kept connection is no answer to the next request") {
  const std::string unasked = GENERATE_COPY(whole_answer("unasked"), stream_head() + chunk("unasked") + kStreamEnd);
  const bool apart = GENERATE(false, true);
  CAPTURE(unasked, apart);
  std::atomic<int> pushed = 0;
  ScriptServer server([&unasked, &pushed, apart](int fd, int) {
    while (!read_request(fd).empty()) {
      const std::string asked = chunk("asked") + kStreamEnd;
      send_apart(fd, apart ? Parts{stream_head(), asked, unasked} : Parts{stream_head(), asked + unasked});
      ++pushed;
    }
  });
  const auto transport = http::make_curl_transport();
  for (int i = 0; i < 3; ++i) {
    const Recorder r = run_one(*transport, request_to(server.url()));
    CHECK(r.complete());
    CHECK(r.body == "asked");
    const Nanos limit = monotonic_now() + 5 * kSecond;
    while (pushed <= i && monotonic_now() < limit) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace
}  // namespace bk::test
