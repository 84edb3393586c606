#include "base/text.h"
#include "http/peer.h"
#include "http/secrets.h"
#include "http/transport.h"

namespace bk::http {
namespace {

constexpr Nanos kPoll = 100 * kMillisecond;
constexpr std::size_t kLongestBody = std::size_t{64} << 20;

class Collector final : public Handler {
 public:
  void on_sent(Nanos, Nanos, bool) override {}
  void on_headers(int status, const std::vector<std::pair<std::string, std::string>>& headers, Nanos) override {
    response.status = status;
    response.headers = headers;
  }
  void on_bytes(std::string_view bytes, Nanos) override {
    too_long = too_long || response.body.size() + bytes.size() > kLongestBody;
    if (!too_long) response.body.append(bytes);
  }
  void on_end(const End& last) override {
    end = last;
    ended = true;
  }
  Response response;
  End end;
  bool ended = false, too_long = false;
};

Errc code_of(End::Kind kind) {
  switch (kind) {
    case End::Kind::kConnectFailed:
      return Errc::kConnect;
    case End::Kind::kTimedOut:
      return Errc::kTimeout;
    default:
      return Errc::kHttp;
  }
}

}  // namespace

Result<Response> fetch(Transport& transport, Request request) {
  const std::string where = printable(request.url);
  const std::vector<std::string> secrets = secrets_of(request);
  Collector collector;
  const TransferId id = transport.start(std::move(request), &collector);
  while (!collector.ended) {
    const std::size_t left = transport.run(monotonic_now() + kPoll);
    if (collector.ended) break;
    if (left == 0) return fail(Errc::kInternal, "the transport lost a request", where);
    if (collector.too_long || transport.stopped()) transport.cancel(id);
  }
  if (collector.too_long) return fail(Errc::kHttp, "the answer is longer than 64 MiB", where);
  if (collector.end.kind == End::Kind::kCancelled) {
    return fail(Errc::kInterrupted, "stopped before the answer had come", where);
  }
  if (collector.end.kind != End::Kind::kComplete)
    return fail(code_of(collector.end.kind), collector.end.message, where);
  for (const auto& [name, value] : collector.response.headers) {
    if (name == "content-encoding" && value != "identity") return fail(Errc::kHttp, encoded_answer(value), where);
  }
  collector.response.body = redact(std::move(collector.response.body), secrets);
  return std::move(collector.response);
}

std::string encoded_answer(const std::string& encoding) {
  return "the answer is compressed (Content-Encoding: " + encoding +
         ") though that was not asked for: what compresses it, often a proxy, must let it through as it is";
}

std::string redirected_answer(int status, const std::vector<std::pair<std::string, std::string>>& headers) {
  if (status < 300 || status > 399) return "";
  for (const auto& [name, value] : headers) {
    if (name != "location") continue;
    return "HTTP " + std::to_string(status) + ": the server sends on to " + printable(value) +
           ", which is not followed: name the server that answers";
  }
  return "";
}

}  // namespace bk::http
