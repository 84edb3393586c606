#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "http/transport.h"

namespace bk::testing {

/// Answers each request by "METHOD path" (the URL without scheme and host), in memory; an unknown one cannot connect.
class FakeTransport final : public http::Transport {
 public:
  /// Answers are given in the order in which they were added; the last one repeats.
  void answer(const std::string& method_and_path, int status, std::string body) {
    answers_[method_and_path].emplace_back(status, std::move(body));
  }

  http::TransferId start(http::Request request, http::Handler* handler) override {
    asked.push_back(request);
    waiting_.emplace_back(std::move(request), handler);
    return asked.size();
  }
  void cancel(http::TransferId) override {}
  Status preconnect(const std::string&, int) override { return {}; }

  std::size_t run(Nanos) override {
    while (!waiting_.empty()) {
      const auto [request, handler] = std::move(waiting_.front());
      waiting_.erase(waiting_.begin());
      serve(request, *handler);
    }
    return 0;
  }

  std::vector<http::Request> asked;

 private:
  static std::string path_of(const std::string& url) { return url.substr(url.find('/', url.find("://") + 3)); }

  void serve(const http::Request& request, http::Handler& handler) {
    const auto it = answers_.find(request.method + " " + path_of(request.url));
    if (it == answers_.end()) {
      handler.on_end({http::End::Kind::kConnectFailed, "connection refused", 1});
      return;
    }
    auto& list = it->second;
    const auto [status, body] = list.front();
    if (list.size() > 1) list.erase(list.begin());
    handler.on_sent(1, 0, true);
    handler.on_headers(status, {}, 2);
    handler.on_bytes(body, 3);
    handler.on_end({http::End::Kind::kComplete, "", 4});
  }

  std::map<std::string, std::vector<std::pair<int, std::string>>> answers_;
  std::vector<std::pair<http::Request, http::Handler*>> waiting_;
};

}  // namespace bk::testing
