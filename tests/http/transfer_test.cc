// How single transfers live and end, against a server of raw bytes.
#include <atomic>
#include <catch2/catch.hpp>

#include "base/file.h"
#include "recorder.h"
#include "script_server.h"

namespace bk::test {
namespace {

using http::End;

TEST_CASE("A body arrives whole however the server cuts it") {
  const std::string events = "data: {\"a\":1}\n\ndata: {\"b\":\"\xea\xb0\x80\"}\n\ndata: [DONE]\n\n";
  const std::string chunked = stream_head() + chunk(events.substr(0, 20)) + chunk(events.substr(20)) + kStreamEnd;
  const std::string until_close = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + events;
  const auto [name, bytes] = GENERATE_COPY(table<std::string, std::string>(
      {{"chunked", chunked}, {"content-length", whole_answer(events)}, {"until close", until_close}}));
  const std::size_t piece = GENERATE(1, 7, 100000);
  INFO(name << " in pieces of " << piece);
  ScriptServer server([&bytes = bytes, piece](int fd, int) {
    read_request(fd);
    for (std::size_t at = 0; at < bytes.size(); at += piece) send_all(fd, bytes.substr(at, piece));
  });
  const auto transport = http::make_curl_transport();
  const Recorder r = run_one(*transport, request_to(server.url()));
  CHECK(r.complete());
  CHECK(r.status == 200);
  CHECK(r.body == events);
  CHECK(r.sendings == 1);
  CHECK_FALSE(r.reused);
  CHECK(r.connect > 0);
  CHECK(r.headers_at >= r.sent);
  CHECK(r.arrivals.front() >= r.headers_at);
  CHECK(std::is_sorted(r.arrivals.begin(), r.arrivals.end()));
  CHECK_FALSE(r.from_the_future);
}

TEST_CASE("The request goes out as given, without Expect, and the key only there") {
  std::string seen;
  ScriptServer server([&seen](int fd, int) {
    seen = read_request(fd);
    send_all(fd, whole_answer("{}"));
  });
  http::Request request = request_to(server.url("/v1/x?y=1"), std::string(5000, 'x'));
  request.headers = {{"Authorization", "Bearer sk-test"}, {"X-Empty", ""}};
  const auto transport = http::make_curl_transport();
  REQUIRE(run_one(*transport, request).complete());
  CHECK(seen.find("POST /v1/x?y=1 HTTP/1.1\r\n") == 0);
  CHECK(seen.find("Authorization: Bearer sk-test\r\n") != std::string::npos);
  CHECK(seen.find("Content-Type: application/json\r\n") != std::string::npos);
  CHECK(seen.find("X-Empty:") != std::string::npos);
  CHECK(seen.find("Expect") == std::string::npos);
  CHECK(seen.substr(seen.size() - 5000) == std::string(5000, 'x'));
}

TEST_CASE("Methods other than POST are sent as named") {
  const std::string method = GENERATE("GET", "HEAD", "DELETE");
  std::string seen;
  ScriptServer server([&seen, method](int fd, int) {
    seen = read_request(fd);
    send_all(fd, method == "HEAD" ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" : whole_answer("{}"));
  });
  http::Request request = request_to(server.url("/health"), "");
  request.method = method;
  const auto transport = http::make_curl_transport();
  CHECK(run_one(*transport, request).complete());
  CHECK(seen.find(method + " /health HTTP/1.1\r\n") == 0);
}

TEST_CASE("A stream that ends early is cut") {
  const auto [name, bytes] = GENERATE(
      table<std::string, std::string>({{"chunked without its end", stream_head() + chunk("data: {}\n\n")},
                                       {"in a chunk", stream_head() + "40\r\ndata: "},
                                       {"short of its length", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"},
                                       {"nothing at all", ""}}));
  INFO(name);
  const bool reset = GENERATE(false, true);
  ScriptServer server([&bytes = bytes, reset](int fd, int) {
    read_request(fd);
    send_all(fd, bytes);
    if (reset) reset_after_reading(fd);
  });
  const auto transport = http::make_curl_transport();
  const Recorder r = run_one(*transport, request_to(server.url()));
  CHECK(r.ends == 1);
  CHECK(r.end.kind == End::Kind::kCut);
  CHECK(r.end.message.find("127.0.0.1:" + std::to_string(server.port())) != std::string::npos);
  CHECK(r.reopened == 0);
}

TEST_CASE("Every status is an answer") {
  ScriptServer server([](int fd, int) {
    read_request(fd);
    send_all(fd, "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nbusy");
  });
  const auto transport = http::make_curl_transport();
  const Recorder r = run_one(*transport, request_to(server.url()));
  CHECK(r.complete());
  CHECK(r.status == 503);
  CHECK(r.body == "busy");
  CHECK(r.headers.front() == std::pair<std::string, std::string>("retry-after", "7"));
}

TEST_CASE("An interim answer is not the answer") {
  ScriptServer server([](int fd, int) {
    read_request(fd);
    send_all(fd, "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + whole_answer("{}"));
  });
  const auto transport = http::make_curl_transport();
  const Recorder r = run_one(*transport, request_to(server.url()));
  CHECK(r.status == 200);
  CHECK(r.headers.front().first == "content-type");
}

TEST_CASE("Bytes that are not HTTP are a protocol failure") {
  ScriptServer server([](int fd, int) {
    read_request(fd);
    send_all(fd, "SSH-2.0-OpenSSH_9.2\r\n");
  });
  const auto transport = http::make_curl_transport();
  CHECK(run_one(*transport, request_to(server.url())).end.kind == End::Kind::kProtocol);
}

TEST_CASE("A transfer coding that nobody asked for is named") {
  ScriptServer server([](int fd, int) {
    read_request(fd);
    send_all(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + chunk("data: {}\n\n") + kStreamEnd);
  });
  const auto transport = http::make_curl_transport();
  const Recorder r = run_one(*transport, request_to(server.url()));
  CHECK(r.end.kind == End::Kind::kProtocol);
  CHECK(r.end.message.find("in the transfer coding \"gzip, chunked\", which is not read") != std::string::npos);
  CHECK(r.body.empty());
}

TEST_CASE("A port that nobody listens on is named") {
  const std::string peer = "127.0.0.1:" + std::to_string(closed_port());
  const auto transport = http::make_curl_transport();
  const Recorder r = run_one(*transport, request_to("http://user:secret@" + peer + "/v1?key=hidden"));
  CHECK(r.end.kind == End::Kind::kConnectFailed);
  CHECK(r.end.message == "cannot connect to " + peer + ": does a server listen there?");
  CHECK(r.sendings == 0);
  const Status pre = transport->preconnect("http://" + peer + "/", 2);
  REQUIRE_FALSE(pre);
  CHECK(pre.error().code == Errc::kConnect);
}

TEST_CASE("A unix socket serves as well as TCP") {
  const TempDir dir;
  const std::string path = dir.path() / "engine.sock";
  ScriptServer server(
      [](int fd, int) {
        while (!read_request(fd).empty()) send_all(fd, whole_answer("{\"ok\":1}"));
      },
      path);
  http::TransportOptions options;
  options.unix_socket = path;
  const auto transport = http::make_curl_transport(options);
  REQUIRE(transport->preconnect("http://localhost/", 1));
  const Recorder r = run_one(*transport, request_to("http://localhost/v1"));
  CHECK(r.complete());
  CHECK(r.body == "{\"ok\":1}");
  CHECK(r.reused);
}

TEST_CASE("Proxy variables are ignored unless asked for") {
  ScriptServer server([](int fd, int) {
    read_request(fd);
    send_all(fd, whole_answer("direct"));
  });
  ScriptServer proxy([](int fd, int) {
    read_request(fd);
    send_all(fd, whole_answer("proxied"));
  });
  const std::string proxy_url = proxy.url("");
  for (const char* name : {"http_proxy", "all_proxy", "ALL_PROXY"}) setenv(name, proxy_url.c_str(), 1);
  const bool asked = GENERATE(false, true);
  http::TransportOptions options;
  options.use_proxy_env = asked;
  const Recorder r = run_one(*http::make_curl_transport(options), request_to(server.url()));
  for (const char* name : {"http_proxy", "all_proxy", "ALL_PROXY"}) unsetenv(name);
  CHECK(r.body == (asked ? "proxied" : "direct"));
}

TEST_CASE("fetch gives any status as a response and failures as errors without secrets") {
  ScriptServer server([](int fd, int number) {
    read_request(fd);
    if (number == 0) send_all(fd, "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno");
  });
  const auto transport = http::make_curl_transport();
  http::Request request =
      request_to("http://user:secret@127.0.0.1:" + std::to_string(server.port()) + "/v1?key=hidden");
  request.headers = {{"Authorization", "Bearer sk-test"}};
  const auto found = http::fetch(*transport, request);
  REQUIRE(found);
  CHECK(found->status == 404);
  CHECK(found->body == "no");
  const auto cut = http::fetch(*transport, request);
  REQUIRE_FALSE(cut);
  CHECK(cut.error().code == Errc::kHttp);
  for (const char* secret : {"sk-test", "secret", "hidden"}) {
    CHECK(cut.error().text().find(secret) == std::string::npos);
  }
}

TEST_CASE("fetch gives up an answer without an end, and whatever is asked once it shall stop") {
  const bool endless = GENERATE(true, false);
  std::atomic<bool> stop = false;
  ScriptServer server([&](int fd, int) {
    read_request(fd);
    send_all(fd, "HTTP/1.1 200 OK\r\n\r\n");
    for (int mib = 0; endless && mib < 80; ++mib) send_all(fd, std::string(std::size_t{1} << 20, 'x'));
    stop = true;
    read_request(fd);
  });
  http::TransportOptions options;
  options.stopped = [&] { return stop && !endless; };
  const auto transport = http::make_curl_transport(options);
  const auto answer = http::fetch(*transport, request_to(server.url()));
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == (endless ? Errc::kHttp : Errc::kInterrupted));
  CHECK(answer.error().what == (endless ? "the answer is longer than 64 MiB" : "stopped before the answer had come"));
}

}  // namespace
}  // namespace bk::test
