// TLS and HTTP/2 against nghttpd, where it is installed.
#include <catch2/catch.hpp>

#include "base/file.h"
#include "base/process.h"
#include "recorder.h"
#include "script_server.h"

namespace bk::test {
namespace {

/// An HTTP/2 server over TLS with a certificate of its own that serves one file.
class Http2Server {
 public:
  Http2Server() : port_(std::to_string(closed_port())) {
    const std::string dir = dir_.path();
    const auto made =
        run_captured({{"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                       "-keyout", dir + "/key.pem", "-out", dir + "/cert.pem", "-days", "2", "-subj", "/CN=127.0.0.1",
                       "-addext", "subjectAltName=IP:127.0.0.1"},
                      {},
                      {},
                      {}},
                     10 * kSecond);
    REQUIRE(made);
    REQUIRE(made->exit.ok());
    REQUIRE(write_file_atomic(dir_.path() / "answer.json", body));
    Command command;
    command.argv = {"nghttpd", "-a", "127.0.0.1", "-d", dir, port_, dir + "/key.pem", dir + "/cert.pem"};
    command.output_file = dir + "/log";
    auto started = Process::start(command);
    REQUIRE(started);
    process_ = std::make_unique<Process>(std::move(*started));
  }

  [[nodiscard]] http::Request request() const {
    http::Request request = request_to("https://127.0.0.1:" + port_ + "/answer.json", "");
    request.method = "GET";
    return request;
  }
  [[nodiscard]] http::TransportOptions options(bool http2) const {
    http::TransportOptions options;
    options.ca_file = dir_.path() / "cert.pem";
    options.http2 = http2;
    return options;
  }
  void wait_until_up() const {
    for (int i = 0; i < 250; ++i) {
      if (http::fetch(*http::make_curl_transport(options(true)), request())) return;
      SystemClock().sleep_until(monotonic_now() + 20 * kMillisecond);
    }
    FAIL("nghttpd did not come up");
  }

  const std::string body = "{\"answer\": 42}\n";

 private:
  TempDir dir_;
  std::string port_;
  std::unique_ptr<Process> process_;
};

bool nghttpd_is_here() {
  const auto ran = run_captured({{"nghttpd", "--version"}, {}, {}, {}}, 5 * kSecond);
  return ran && ran->exit.ok();
}

TEST_CASE("HTTP/2 over TLS carries many streams on one connection, and a stranger's certificate is refused") {
  if (!nghttpd_is_here()) {
    WARN("nghttpd is not installed: HTTP/2 over TLS is not tested (apt-get install nghttp2-server)");
    return;
  }
  const Http2Server server;
  server.wait_until_up();

  const auto transport = http::make_curl_transport(server.options(true));
  const Status standing = transport->preconnect(server.request().url, 5);
  INFO((standing ? "" : standing.error().text()));
  REQUIRE(standing);
  std::vector<Recorder> round(5);
  for (Recorder& r : round) transport->start(server.request(), &r);
  transport->run(0);
  for (const Recorder& r : round) {
    CHECK(r.complete());
    CHECK(r.status == 200);
    CHECK(r.body == server.body);
    CHECK(r.reused);
    CHECK(r.connect == 0);
    CHECK(r.headers_at >= r.sent);
  }

  Recorder cold;
  const auto fresh = http::make_curl_transport(server.options(true));
  fresh->start(server.request(), &cold);
  fresh->run(0);
  CHECK(cold.complete());
  CHECK(cold.connect > 0);  // TCP and TLS, apart from the time to the first byte

  Recorder stranger;
  const auto trusting_nobody = http::make_curl_transport();
  trusting_nobody->start(server.request(), &stranger);
  trusting_nobody->run(0);
  CHECK(stranger.end.kind == http::End::Kind::kConnectFailed);
  CHECK(stranger.end.message.find("certificate") != std::string::npos);
  CHECK(stranger.sendings == 0);
}

}  // namespace
}  // namespace bk::test
