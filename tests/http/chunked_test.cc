// Chunked answers as servers frame them, well and badly, whoever reads them: libcurl behind the head, the client after.
#include <sys/socket.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "recorder.h"
#include "script_server.h"

namespace bk::test {
namespace {

using http::End;
using Parts = std::vector<std::string>;

Parts byte_by_byte(const std::string& bytes) {
  Parts parts{stream_head()};
  for (const char c : bytes) parts.emplace_back(1, c);
  return parts;
}

TEST_CASE("A chunked answer arrives whole however its framing is sent, and its connection is kept") {
  const std::string head = stream_head();
  const Parts parts = GENERATE_COPY(
      Parts{head, "5\r\nhello\r\n", "0", "\r\n", "\r\n"}, Parts{head, "5\r\nhello\r\n", "0\r", "\n\r", "\n"},
      Parts{head, "0005\r\nhello\r\n", "0\r\n\r\n"}, Parts{head, "0", "005\r\nhello\r\n0\r\n\r\n"},
      Parts{head + "5\r\nhe", "llo", "\r", "\n0\r\n\r\n"}, Parts{head + "5", "\r\nhello\r\n0\r\n\r\n"},
      Parts{head + "2\r\nhe\r\n", "2\r\nll\r\n1\r\no\r\n", "0\r\n\r\n"}, Parts{head, "5\nhello\n", "0\n\n"},
      Parts{head, "5;x=\"y\"\r\nhello\r\n", "0;last\r\nExpires: 0\r\n", "X: 1\r\n\r\n"},
      Parts{head, "5 \r\nhello\r\n0\r\n\r\n"}, byte_by_byte("3\r\nhel\r\n02\r\nlo\r\n0\r\nX: 1\r\n\r\n"));
  ScriptServer server([&parts](int fd, int) {
    while (!read_request(fd).empty()) send_apart(fd, parts);
  });
  const auto transport = http::make_curl_transport();
  for (int i = 0; i < 2; ++i) {
    const Recorder r = run_one(*transport, request_to(server.url()));
    INFO(r.end.message);
    CHECK(r.complete());
    CHECK(r.body == "hello");
    CHECK(r.reused == (i > 0));
  }
  CHECK(server.connections() == 1);
}

TEST_CASE("An answer with a chunk that is none has broken, whoever reads it") {
  const std::string good = chunk("hello");
  const std::string bad =
      GENERATE(as<std::string>(), "5g\r\nhello\r\n", "5, 6\r\nhello\r\n", "0g\r\n\r\n", "-5\r\nhello\r\n",
               "+5\r\nhello\r\n", "0x5\r\nhello\r\n", "\r\n", "helloX", "5\r\nhelloX0\r\n\r\n",
               "ffffffffffffffff\r\nhello", "ffffffffffffffffffff\r\nhello");
  const bool behind_head = GENERATE(false, true);
  CAPTURE(bad, behind_head);
  ScriptServer server([&, behind_head](int fd, int) {
    read_request(fd);
    const std::string rest = bad + kStreamEnd;
    send_apart(fd, behind_head ? Parts{stream_head() + good + rest} : Parts{stream_head(), good, rest});
    read_request(fd);
  });
  const auto transport = http::make_curl_transport();
  const Recorder r = run_one(*transport, request_to(server.url()));
  CHECK(r.ends == 1);
  CHECK(r.end.kind == End::Kind::kCut);
  CHECK(r.says("what came is no chunk of an answer"));
  CHECK(r.says("127.0.0.1:" + std::to_string(server.port())));
  CHECK(r.body.substr(0, 5) == "hello");
}

TEST_CASE("Transfer codings that change nothing are read, others are named") {
  const auto [fields, refused] = GENERATE(table<std::string, std::string>({
      {"Transfer-Encoding: Chunked\r\n", ""},
      {"transfer-encoding:CHUNKED\r\n", ""},
      {"Transfer-Encoding: chunked \r\n", ""},
      {"Transfer-Encoding: identity, chunked\r\n", ""},
      {"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n", ""},
      {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
       ""},  // a proxy has passed the field on and added its own
      {"Transfer-Encoding: chunked, chunked\r\n", ""},
      {"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", ""},
      {"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", ""},
      {"Transfer-Encoding: gzip, chunked\r\n", "gzip, chunked"},
      {"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", "gzip, chunked"},
      {"Transfer-Encoding: chunked\r\nTransfer-Encoding: deflate\r\n", "chunked, deflate"},
      {"Transfer-Encoding: chunked;q=1\r\n", "chunked;q=1"},
      {"Transfer-Encoding: br\r\n", "br"},
  }));
  CAPTURE(fields);
  ScriptServer server([&fields = fields](int fd, int) {
    read_request(fd);
    send_apart(fd, {"HTTP/1.1 200 OK\r\n" + fields + "\r\n", chunk("hello"), kStreamEnd});
  });
  const auto transport = http::make_curl_transport();
  const Recorder r = run_one(*transport, request_to(server.url()));
  INFO(r.end.message);
  CHECK(r.complete() == refused.empty());
  CHECK(r.body == (refused.empty() ? "hello" : ""));
  if (refused.empty()) return;
  CHECK(r.end.kind == End::Kind::kProtocol);
  CHECK(r.says("in the transfer coding \"" + refused + "\", which is not read"));
}

TEST_CASE("The identity coding leaves a body to its length or to the end of the connection") {
  const std::string length = GENERATE(as<std::string>(), "Content-Length: 5\r\n", "");
  ScriptServer server([&length](int fd, int) {
    read_request(fd);
    send_apart(fd, {"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n" + length + "\r\n", "he", "llo"});
  });
  const auto transport = http::make_curl_transport();
  const Recorder r = run_one(*transport, request_to(server.url()));
  CHECK(r.complete());
  CHECK(r.body == "hello");
}

TEST_CASE("An answer that has no body has none whatever coding it names") {
  const auto [method, status] = GENERATE(
      table<std::string, std::string>({{"HEAD", "200 OK"}, {"GET", "204 No Content"}, {"GET", "304 Not Modified"}}));
  const std::string coding = GENERATE(as<std::string>(), "chunked", "gzip, chunked", "identity");
  CAPTURE(method, status, coding);
  ScriptServer server([&status = status, &coding](int fd, int) {
    while (!read_request(fd).empty())
      send_apart(fd, {"HTTP/1.1 " + status + "\r\nTransfer-Encoding: " + coding + "\r\n\r\n"});
  });
  const auto transport = http::make_curl_transport();
  for (int i = 0; i < 2; ++i) {
    http::Request request = request_to(server.url(), "");
    request.method = method;
    const Recorder r = run_one(*transport, request);
    INFO(r.end.message);
    CHECK(r.complete());
    CHECK(r.body.empty());
    CHECK(std::to_string(r.status) == status.substr(0, 3));
  }
}

/// Does not return from the chunk "two" before `sent`.
class WaitsAtTwo final : public http::Handler {
 public:
  void on_sent(Nanos, Nanos, bool) override {}
  void on_headers(int, const std::vector<std::pair<std::string, std::string>>&, Nanos) override {}
  void on_bytes(std::string_view bytes, Nanos) override {
    const Nanos limit = monotonic_now() + 5 * kSecond;
    while (bytes == "two" && !sent && monotonic_now() < limit)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    received += bytes.size();
  }
  void on_end(const End& last) override { end = last; }
  std::atomic<bool> sent = false;
  std::atomic<std::size_t> received = 0;
  End end;
};

TEST_CASE("What waits is taken to its end, however much it is, also when nothing follows for now") {
  constexpr std::size_t kChunks = 48, kBytes = 1000;
  WaitsAtTwo handler;
  std::size_t before_end = 0;
  ScriptServer server([&](int fd, int) {
    read_request(fd);
    send_apart(fd, {stream_head(), chunk("one"), chunk("two")});
    std::string many;
    for (std::size_t i = 0; i < kChunks; ++i) many += chunk(std::string(kBytes, 'x'));
    send_all(fd, many);
    handler.sent = true;
    const Nanos limit = monotonic_now() + 5 * kSecond;
    while (handler.received < 6 + kChunks * kBytes && monotonic_now() < limit)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    before_end = handler.received;
    send_all(fd, kStreamEnd);
  });
  const auto transport = http::make_curl_transport();
  transport->start(request_to(server.url()), &handler);
  CHECK(transport->run(0) == 0);
  CHECK(handler.end.kind == End::Kind::kComplete);
  CHECK(before_end == 6 + kChunks * kBytes);
}

TEST_CASE("An end that comes with the last bytes is seen") {
  WaitsAtTwo handler;
  ScriptServer server([&handler](int fd, int) {
    read_request(fd);
    send_apart(fd, {stream_head(), chunk("one"), chunk("two"), chunk("three")});
    shutdown(fd, SHUT_WR);
    handler.sent = true;
    read_request(fd);
  });
  const auto transport = http::make_curl_transport();
  transport->start(request_to(server.url()), &handler);
  CHECK(transport->run(0) == 0);
  CHECK(handler.received == 11);
  CHECK(handler.end.kind == End::Kind::kCut);
}

/// Does something once, at the first bytes of the body.
class AtBytes final : public http::Handler {
 public:
  explicit AtBytes(std::function<void()> act) : act_(std::move(act)) {}
  void on_sent(Nanos, Nanos, bool) override {}
  void on_headers(int, const std::vector<std::pair<std::string, std::string>>&, Nanos) override {}
  void on_bytes(std::string_view bytes, Nanos) override {
    body += bytes;
    if (auto act = std::exchange(act_, {})) act();
  }
  void on_end(const End& last) override {
    end = last;
    ++ends;
  }
  std::string body;
  End end;
  int ends = 0;

 private:
  std::function<void()> act_;
};

TEST_CASE("A stream may be cancelled, or another begun, while its bytes are handed on") {
  const bool behind_head = GENERATE(false, true);
  const bool to_the_end = GENERATE(false, true);  // the last chunk is read in the same go
  ScriptServer server([=](int fd, int) {
    while (!read_request(fd).empty()) {
      const std::string body = chunk("one") + chunk("two") + (to_the_end ? kStreamEnd : "");
      send_apart(fd, behind_head ? Parts{stream_head() + body} : Parts{stream_head(), body});
    }
  });
  const auto transport = http::make_curl_transport();
  Recorder second;
  http::TransferId id = 0, second_id = 0;
  AtBytes first([&] {
    transport->cancel(id);
    second_id = transport->start(request_to(server.url()), &second);
  });
  id = transport->start(request_to(server.url()), &first);
  while (second.ends == 0 && second.body != "onetwo") transport->run(monotonic_now() + kMillisecond);
  if (!to_the_end) transport->cancel(second_id);
  CHECK(transport->run(0) == 0);
  CHECK(first.ends == 1);
  CHECK(first.end.kind == End::Kind::kCancelled);
  CHECK(first.body == "one");
  CHECK(second.ends == 1);
  CHECK(second.end.kind == (to_the_end ? End::Kind::kComplete : End::Kind::kCancelled));
  CHECK(second.body == "onetwo");
}

}  // namespace
}  // namespace bk::test
