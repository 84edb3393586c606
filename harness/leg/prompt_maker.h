#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/endpoint.h"
#include "engine/tokenize.h"
#include "http/transport.h"
#include "load/sizing.h"

namespace bk::leg {

/// Makes cold prompts of a wanted number of tokens, chat template included: exactly by the server's own tokenizer, else
/// from the `usage` of two short requests. Each begins with its seed's nonce, so that no cached prefix can answer.
class PromptMaker {
 public:
  PromptMaker(http::Transport& transport, const engine::Endpoint& endpoint);

  /// kUsage when the frame alone is longer than asked; kUnavailable when the server has neither way to count; kServer
  /// when a counting request fails.
  [[nodiscard]] Result<std::string> make(std::int64_t tokens, std::uint64_t seed);
  /// How the last prompt was sized: "tokenizer" or "usage".
  [[nodiscard]] const char* sized_by() const { return tokenizer_ ? "tokenizer" : "usage"; }

 private:
  [[nodiscard]] Result<load::SizedPrompt> sized_exactly(std::int64_t tokens, std::uint64_t seed) const;
  Status calibrate(std::uint64_t seed);

  http::Transport& transport_;
  const engine::Endpoint& endpoint_;
  std::optional<engine::Tokenizer> tokenizer_;
  std::optional<load::Calibration> calibration_;
};

}  // namespace bk::leg
