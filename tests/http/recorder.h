#pragma once
#include <string>
#include <utility>
#include <vector>

#include "http/transport.h"

namespace bk::test {

/// Remembers one transfer's life.
class Recorder final : public http::Handler {
 public:
  void on_sent(Nanos at, Nanos took, bool was_reused) override {
    ++sendings;
    sent = at;
    connect = took;
    reused = was_reused;
  }
  void on_headers(int code, const std::vector<std::pair<std::string, std::string>>& all, Nanos at) override {
    status = code;
    headers = all;
    headers_at = at;
  }
  void on_bytes(std::string_view bytes, Nanos arrival) override {
    body += bytes;
    arrivals.push_back(arrival);
    if (arrival > monotonic_now()) from_the_future = true;
  }
  void on_reopened() override { ++reopened; }
  void on_end(const http::End& last) override {
    end = last;
    ++ends;
  }
  [[nodiscard]] bool complete() const { return ends == 1 && end.kind == http::End::Kind::kComplete; }
  [[nodiscard]] bool says(const std::string& text) const { return end.message.find(text) != std::string::npos; }

  int sendings = 0, reopened = 0, status = 0, ends = 0;
  Nanos sent = 0, connect = 0, headers_at = 0;
  bool reused = false, from_the_future = false;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::vector<Nanos> arrivals;
  http::End end;
};

inline http::Request request_to(const std::string& url, const std::string& body = "{}") {
  http::Request request;
  request.url = url;
  request.body = body;
  request.timeouts.total = 20 * kSecond;
  return request;
}

inline Recorder run_one(http::Transport& transport, http::Request request) {
  Recorder recorder;
  transport.start(std::move(request), &recorder);
  transport.run(0);
  return recorder;
}

}  // namespace bk::test
