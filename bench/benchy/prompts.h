#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "engine/endpoint.h"
#include "engine/tokenize.h"
#include "http/transport.h"
#include "load/random.h"
#include "load/sizing.h"
#include "load/tokenizer_json.h"

namespace bk::benchy {

/// Fresh texts of a wanted number of tokens: by a tokenizer.json where one is given, else by the server's /tokenize,
/// else by a calibration from `usage`.
class PromptMaker {
 public:
  /// `adapt`: learn how many tokens the chat template adds (two short warm-up requests are sent either way).
  static Result<PromptMaker> make(http::Transport& transport, const engine::Endpoint& endpoint,
                                  std::optional<load::TokenizerJson> file, bool adapt, std::uint64_t seed);
  /// A text of `tokens` tokens, template aside: exactly so with a tokenizer. kUsage when that is too few.
  [[nodiscard]] Result<std::string> text(std::int64_t tokens);
  /// " <uuid>" and its tokens: appended, it keeps a cache from answering.
  [[nodiscard]] Result<std::pair<std::string, std::int64_t>> unique_suffix();
  /// "tokenizer.json", "tokenize" or "usage".
  [[nodiscard]] const char* sized_by() const;
  [[nodiscard]] std::int64_t delta_user() const { return delta_user_; }        ///< template tokens of a user message
  [[nodiscard]] std::int64_t delta_context() const { return delta_context_; }  ///< of a system message and "."

 private:
  PromptMaker(http::Transport& transport, const engine::Endpoint& endpoint, std::uint64_t seed)
      : transport_(&transport), endpoint_(&endpoint), random_(seed) {}
  Status learn(bool adapt);
  [[nodiscard]] bool counts() const { return file_ || tokenizer_; }
  [[nodiscard]] Result<std::int64_t> count(const std::string& text) const;
  Status calibrate(std::int64_t warmup_tokens);

  http::Transport* transport_;
  const engine::Endpoint* endpoint_;
  load::Random random_;
  std::optional<load::TokenizerJson> file_;
  std::optional<engine::Tokenizer> tokenizer_;
  load::Calibration calibration_;
  std::int64_t delta_user_ = 0, delta_context_ = 0;
};

/// One request that is not streamed: its answer as JSON. kHttp with the server's message for a status beyond 2xx.
[[nodiscard]] Result<Json> post_chat(http::Transport& transport, const engine::Endpoint& endpoint, const Json& body);

}  // namespace bk::benchy
