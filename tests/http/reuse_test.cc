// Connections that stand: preconnected, kept alive, and gone when they are needed.
#include <catch2/catch.hpp>

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
