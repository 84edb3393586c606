#pragma once
#include <deque>
#include <string>

#include "http/transport.h"

namespace bk::test {

/// Answers each request by its body: "ok" streams two tokens, "cut" breaks off, "refused" never connects, "hang" waits
/// until it is cancelled. Times are those of the machine's clock.
class FakeTransport final : public http::Transport {
 public:
  http::TransferId start(http::Request request, http::Handler* handler) override {
    started.push_back(monotonic_now());
    waiting_.push_back({++last_, std::move(request.body), handler});
    return last_;
  }
  void cancel(http::TransferId id) override {
    for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
      if (it->id != id) continue;
      http::Handler* handler = it->handler;
      waiting_.erase(it);
      return handler->on_end({http::End::Kind::kCancelled, "cancelled", monotonic_now()});
    }
  }
  std::size_t run(Nanos) override {
    std::deque<Waiting> hanging;
    while (!waiting_.empty()) {
      Waiting next = std::move(waiting_.front());
      waiting_.pop_front();
      if (next.kind == "hang") {
        hanging.push_back(std::move(next));
      } else {
        answer(next);
      }
    }
    waiting_ = std::move(hanging);
    return waiting_.size();
  }
  Status preconnect(const std::string&, int connections) override {
    preconnected = connections;
    return {};
  }
  Nanos take_worst_delay() override { return 7 * kMicrosecond; }

  std::vector<Nanos> started;
  int preconnected = 0;

 private:
  struct Waiting {
    http::TransferId id;
    std::string kind;
    http::Handler* handler;
  };
  static void answer(const Waiting& request) {
    http::Handler& h = *request.handler;
    const Nanos now = monotonic_now();
    if (request.kind == "refused") return h.on_end({http::End::Kind::kConnectFailed, "cannot connect", now});
    h.on_sent(now, 0, true);
    if (request.kind == "moved") {
      h.on_headers(307, {{"location", "http://user:pass@b:1/v1?key=k"}}, now);
      return h.on_end({http::End::Kind::kComplete, "", now});
    }
    h.on_headers(200, {{"content-type", "text/event-stream"}}, now + kMillisecond);
    h.on_bytes("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", now + 2 * kMillisecond);
    if (request.kind == "cut") return h.on_end({http::End::Kind::kCut, "closed", now + 3 * kMillisecond});
    h.on_bytes("data: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\n",
               now + 12 * kMillisecond);
    h.on_bytes("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n",
               now + 13 * kMillisecond);
    h.on_end({http::End::Kind::kComplete, "", now + 14 * kMillisecond});
  }

  std::deque<Waiting> waiting_;
  http::TransferId last_ = 0;
};

}  // namespace bk::test
