// Limits of each phase, and cancelling.
#include <unistd.h>

#include <catch2/catch.hpp>

#include "recorder.h"
#include "script_server.h"

namespace bk::test {
namespace {

using http::End;

// Answers with `bytes`, then says nothing until the client leaves.
ScriptServer::Serve stalls_after(const std::string& bytes) {
  return [bytes](int fd, int) {
    read_request(fd);
    send_all(fd, bytes);
    read_request(fd);
  };
}

TEST_CASE("Each phase has its own limit and says which ran out") {
  struct Case {
    const char* name;
    std::string bytes;
    http::Timeouts timeouts;
    const char* message;
  };
  const Nanos limit = 60 * kMillisecond;
  const auto c = GENERATE_COPY(values<Case>(
      {{"slow headers", "", {kSecond, limit, 0, 0}, "no first byte within 60 ms"},
       {"stalled stream", stream_head() + chunk("data: {}\n\n"), {kSecond, 0, limit, 0}, "nothing more came for 60 ms"},
       {"too long in all", stream_head(), {kSecond, 0, 0, limit}, "not finished within 60 ms"},
       {"the first limit wins", "", {kSecond, limit, 0, 10 * limit}, "no first byte within 60 ms"}}));
  INFO(c.name);
  ScriptServer server(stalls_after(c.bytes));
  http::Request request = request_to(server.url());
  request.timeouts = c.timeouts;
  const auto transport = http::make_curl_transport();
  Recorder r;
  const Nanos before = monotonic_now();
  transport->start(request, &r);
  CHECK(transport->run(0) == 0);
  CHECK(r.end.kind == End::Kind::kTimedOut);
  CHECK(r.end.message == c.message);
  CHECK(r.end.at - before >= limit);
}

TEST_CASE("A connection that never completes runs into the connect limit") {
  // The TLS handshake is answered by silence.
  ScriptServer server([](int fd, int) { read_request(fd); });
  http::Request request = request_to("https://127.0.0.1:" + std::to_string(server.port()) + "/");
  request.timeouts.connect = 60 * kMillisecond;
  const auto transport = http::make_curl_transport();
  Recorder r;
  transport->start(request, &r);
  transport->run(0);
  CHECK(r.end.kind == End::Kind::kTimedOut);
  CHECK(r.end.message == "no connection within 60 ms");
  CHECK(r.sendings == 0);
}

TEST_CASE("Data that keeps coming moves the idle limit") {
  ScriptServer server([](int fd, int) {
    read_request(fd);
    send_all(fd, stream_head());
    for (int i = 0; i < 8; ++i) {
      usleep(50'000);
      send_all(fd, chunk("data: {}\n\n"));
    }
    send_all(fd, kStreamEnd);
  });
  http::Request request = request_to(server.url());
  request.timeouts.idle = 300 * kMillisecond;  // less than the whole stream takes
  const auto transport = http::make_curl_transport();
  Recorder r;
  transport->start(request, &r);
  transport->run(0);
  CHECK(r.complete());
  CHECK(r.arrivals.size() == 8);
}

TEST_CASE("run gives up at its own limit and goes on later") {
  ScriptServer server([](int fd, int) {
    read_request(fd);
    usleep(200'000);
    send_all(fd, whole_answer("{}"));
  });
  const auto transport = http::make_curl_transport();
  Recorder r;
  transport->start(request_to(server.url()), &r);
  CHECK(transport->run(monotonic_now() + 20 * kMillisecond) == 1);
  CHECK(r.ends == 0);
  CHECK(transport->run(0) == 0);
  CHECK(r.complete());
}

/// Cancels the other transfer when its own first bytes come, and starts one more when it ends.
class Meddler final : public http::Handler {
 public:
  void on_sent(Nanos, Nanos, bool) override {}
  void on_headers(int, const std::vector<std::pair<std::string, std::string>>&, Nanos) override {}
  void on_bytes(std::string_view, Nanos) override { transport->cancel(victim); }
  void on_end(const http::End&) override { transport->start(next, last); }
  http::Transport* transport = nullptr;
  http::TransferId victim = 0;
  http::Request next;
  http::Handler* last = nullptr;
};

TEST_CASE("Handlers may cancel and start transfers") {
  ScriptServer silent(stalls_after(""));
  ScriptServer answering([](int fd, int) {
    while (!read_request(fd).empty()) send_all(fd, whole_answer("{}"));
  });
  const auto transport = http::make_curl_transport();
  Recorder victim;
  Recorder last;
  Meddler meddler;
  meddler.transport = transport.get();
  meddler.victim = transport->start(request_to(silent.url()), &victim);
  meddler.next = request_to(answering.url());
  meddler.last = &last;
  transport->start(request_to(answering.url()), &meddler);
  CHECK(transport->run(0) == 0);
  CHECK(victim.end.kind == End::Kind::kCancelled);
  CHECK(victim.ends == 1);
  CHECK(last.complete());
}

}  // namespace
}  // namespace bk::test
