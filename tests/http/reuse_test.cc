// Connections that stand: preconnected, kept alive, and gone when they are needed.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "recorder.h"
#include "script_server.h"

namespace bk::test {
namespace {

void serve_forever(int fd, int) {
  while (!read_request(fd).empty()) send_all(fd, whole_answer("{}"));
}

std::vector<Recorder> run_round(http::Transport& transport, const std::string& url, std::size_t count) {
  std::vector<Recorder> round(count);
  for (Recorder& recorder : round) transport.start(request_to(url), &recorder);
  transport.run(0);
  return round;
}

TEST_CASE("Preconnected sockets carry the first round, kept ones the next") {
  ScriptServer server(serve_forever);
  const auto transport = http::make_curl_transport();
  REQUIRE(transport->preconnect(server.url(), 8));
  for (int round = 0; round < 3; ++round) {
    for (const Recorder& r : run_round(*transport, server.url(), 8)) {
      CHECK(r.complete());
      CHECK(r.reused);
      CHECK(r.connect == 0);
    }
    REQUIRE(transport->preconnect(server.url(), 8));
  }
  CHECK(server.connections() == 8);
}

TEST_CASE("Only the connections that are missing are opened") {
  ScriptServer server(serve_forever);
  const auto transport = http::make_curl_transport();
  run_round(*transport, server.url(), 3);
  REQUIRE(transport->preconnect(server.url(), 5));
  for (const Recorder& r : run_round(*transport, server.url(), 5)) CHECK(r.reused);
  // A connection that no request needed may stand before the server's thread has accepted it.
  SystemClock clock;
  const Nanos limit = clock.now() + 5 * kSecond;
  while (server.connections() < 5 && clock.now() < limit) clock.sleep_until(clock.now() + kMillisecond);
  CHECK(server.connections() == 5);
}

/// A chunked answer whose chunks come one by one, so that the client reads all but the head by itself.
void stream_slowly(int fd, const std::string& more_headers) {
  const int at_once = 1;  // on a connection that is used again, a write would else wait for a delayed acknowledgement
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  const std::string head = stream_head();
  send_all(fd, head.substr(0, head.size() - 2) + more_headers + "\r\n");
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    send_all(fd, chunk("data: " + std::to_string(i) + "\n\n"));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  send_all(fd, kStreamEnd);
}
const std::string kSlowBody = "data: 0\n\ndata: 1\n\ndata: 2\n\n";

TEST_CASE("Connections of streams that were read to their end are kept, in every round") {
  ScriptServer server([](int fd, int) {
    while (!read_request(fd).empty()) stream_slowly(fd, "");
  });
  const auto transport = http::make_curl_transport();
  REQUIRE(transport->preconnect(server.url(), 8));
  for (int round = 0; round < 20; ++round) {
    for (const Recorder& r : run_round(*transport, server.url(), 8)) {
      CHECK(r.complete());
      CHECK(r.body == kSlowBody);
      CHECK(r.arrivals.size() == 3);
      CHECK(std::is_sorted(r.arrivals.begin(), r.arrivals.end()));
      CHECK(r.end.at >= r.arrivals.back());
      CHECK(r.reused);
    }
  }
  CHECK(server.connections() == 8);
}

TEST_CASE("A stream whose connection will close leaves none") {
  ScriptServer server([](int fd, int) {
    while (!read_request(fd).empty()) stream_slowly(fd, "Connection: close\r\n");
  });
  const auto transport = http::make_curl_transport();
  for (int i = 0; i < 3; ++i) {
    const Recorder r = run_round(*transport, server.url(), 1).front();
    CHECK(r.complete());
    CHECK(r.body == kSlowBody);
    CHECK_FALSE(r.reused);
  }
  CHECK(server.connections() == 3);
}

TEST_CASE("A stream that breaks off its chunks has broken") {
  ScriptServer server([](int fd, int) {
    read_request(fd);
    send_all(fd, stream_head());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    send_all(fd, chunk("data: 0\n\n") + "no chunk\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  });
  const auto transport = http::make_curl_transport();
  const Recorder r = run_round(*transport, server.url(), 1).front();
  CHECK(r.body == "data: 0\n\n");
  CHECK(r.end.kind == http::End::Kind::kCut);
  CHECK(r.end.message.find("what came is no chunk of an answer") != std::string::npos);
}

TEST_CASE("Streams that are cancelled or out of time take their connection with them") {
  ScriptServer server([](int fd, int) {
    read_request(fd);
    send_all(fd, stream_head());
    for (int i = 0; i < 200; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      send_all(fd, chunk("data: 0\n\n"));
    }
  });
  const auto transport = http::make_curl_transport();
  const bool cancelled = GENERATE(false, true);
  Recorder recorder;
  http::Request request = request_to(server.url());
  if (!cancelled) request.timeouts.total = 500 * kMillisecond;
  const http::TransferId id = transport->start(request, &recorder);
  while (recorder.body.empty() && recorder.ends == 0) transport->run(monotonic_now() + kMillisecond);
  if (cancelled) transport->cancel(id);
  CHECK(transport->run(0) == 0);
  CHECK(recorder.end.kind == (cancelled ? http::End::Kind::kCancelled : http::End::Kind::kTimedOut));
  CHECK_FALSE(recorder.body.empty());
  CHECK(transport->run(monotonic_now() + 20 * kMillisecond) == 0);
}

TEST_CASE("Reuse can be turned off") {
  ScriptServer server(serve_forever);
  http::TransportOptions options;
  options.reuse_connections = false;
  const auto transport = http::make_curl_transport(options);
  for (int i = 0; i < 2; ++i) CHECK_FALSE(run_round(*transport, server.url(), 1).front().reused);
  CHECK(server.connections() == 2);
}

// llama.cpp's server promises keep-alive and closes: the next request on that connection meets its end.
TEST_CASE("A kept connection that ends before any byte is reopened once and counted") {
  ScriptServer server([](int fd, int number) {
    if (number != 0) return serve_forever(fd, number);
    read_request(fd);
    send_all(fd, whole_answer("{}"));
    read_request(fd);  // and closes
  });
  const auto transport = http::make_curl_transport();
  CHECK(run_round(*transport, server.url(), 1).front().reopened == 0);
  const Recorder r = run_round(*transport, server.url(), 1).front();
  CHECK(r.complete());
  CHECK(server.connections() == 2);
  CHECK(r.reopened == 1);
  CHECK(r.sendings == 2);
  CHECK_FALSE(r.reused);
}

TEST_CASE("A preconnected socket that ends before any byte is reopened once and counted") {
  ScriptServer server([](int fd, int number) {
    if (number == 0) return void(read_request(fd));
    serve_forever(fd, number);
  });
  const auto transport = http::make_curl_transport();
  REQUIRE(transport->preconnect(server.url(), 1));
  const Recorder r = run_round(*transport, server.url(), 1).front();
  CHECK(r.complete());
  CHECK(r.reopened == 1);
  CHECK(r.sendings == 2);
  CHECK_FALSE(r.reused);
  CHECK(r.connect > 0);
  CHECK(r.body == "{}");
}

TEST_CASE("A fresh connection that ends before any byte is not tried again") {
  ScriptServer server([](int fd, int) { read_request(fd); });
  const auto transport = http::make_curl_transport();
  REQUIRE(transport->preconnect(server.url(), 1));
  const Recorder r = run_round(*transport, server.url(), 1).front();
  CHECK(r.end.kind == http::End::Kind::kCut);
  CHECK(r.sendings == 2);
  CHECK(server.connections() == 2);
}

TEST_CASE("A reused connection that ends after its first byte is cut, not reopened") {
  ScriptServer server([](int fd, int) {
    read_request(fd);
    send_all(fd, whole_answer("{}"));
    read_request(fd);
    send_all(fd, stream_head() + chunk("data: {}\n\n"));
  });
  const auto transport = http::make_curl_transport();
  run_round(*transport, server.url(), 1);
  const Recorder r = run_round(*transport, server.url(), 1).front();
  CHECK(r.reused);
  CHECK(r.end.kind == http::End::Kind::kCut);
  CHECK(r.reopened == 0);
  CHECK(server.connections() == 1);
}

}  // namespace
}  // namespace bk::test
