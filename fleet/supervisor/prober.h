#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core.h"
#include "engine/endpoint.h"
#include "http/transport.h"
#include "rules.h"

namespace bk::supervisor {

/// Looks at an engine over HTTP. Every wait ends early when `stop` says so.
class Prober {
 public:
  Prober(const Rules& rules, std::function<bool()> stop)
      : rules_(rules), stop_(std::move(stop)), transport_(http::make_curl_transport()) {}

  /// One health cycle: the list of models, then the counters, then a chat of kProbeTokens tokens. An open port or a
  /// green /health proves nothing; only a finished generation does.
  [[nodiscard]] Cycle cycle(const engine::Endpoint& endpoint, const std::string& served_model);
  /// Nothing when the page does not answer within the limit for /v1/models, or lacks a counter.
  [[nodiscard]] std::optional<Reading> read(const engine::Endpoint& endpoint);
  /// The text of the metrics page; kUnavailable and the like.
  [[nodiscard]] Result<std::string> metrics_text(const engine::Endpoint& endpoint);
  /// POST /reset_prefix_cache.
  [[nodiscard]] Status reset_cache(const engine::Endpoint& endpoint);

 private:
  [[nodiscard]] Result<http::Response> fetch(http::Request request);
  [[nodiscard]] Result<std::string> listed_model(const engine::Endpoint& endpoint, const std::string& wanted);
  /// Tokens that the chat generated; nothing inside when the server counts none.
  [[nodiscard]] Result<std::optional<int>> chat(engine::Endpoint endpoint, const std::string& model);

  Rules rules_;
  std::function<bool()> stop_;
  std::unique_ptr<http::Transport> transport_;
};

}  // namespace bk::supervisor
