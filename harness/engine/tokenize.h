#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/endpoint.h"
#include "http/transport.h"

namespace bk::engine {

/// Which shape of /tokenize a server speaks.
enum class TokenizeShape { kVllm, kLlamaCpp };

/// The server's own tokenizer. `transport` and `endpoint` must outlive it; calls wait for the answer.
class Tokenizer {
 public:
  /// Asks once and learns the shape. kUnavailable when the server has no usable /tokenize.
  static Result<Tokenizer> detect(http::Transport& transport, const Endpoint& endpoint);

  /// Tokens of plain text, without special tokens.
  [[nodiscard]] Result<std::int64_t> count(std::string_view text) const;
  [[nodiscard]] Result<std::vector<std::int64_t>> tokens(std::string_view text) const;
  /// Prompt tokens of a chat with this one user message: template and special tokens included, what `usage` will say.
  /// kUnavailable when the server cannot apply its template for us.
  [[nodiscard]] Result<std::int64_t> count_chat(std::string_view message, bool thinking_off = false) const;
  [[nodiscard]] TokenizeShape shape() const { return shape_; }

 private:
  Tokenizer(http::Transport& transport, const Endpoint& endpoint, TokenizeShape shape)
      : transport_(&transport), endpoint_(&endpoint), shape_(shape) {}
  http::Transport* transport_;
  const Endpoint* endpoint_;
  TokenizeShape shape_;
};

}  // namespace bk::engine
