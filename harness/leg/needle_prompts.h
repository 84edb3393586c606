#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/endpoint.h"
#include "engine/tokenize.h"
#include "gate/needle.h"
#include "http/transport.h"
#include "load/sizing.h"

namespace bk::leg {

/// A document with planted facts, the same for the same arguments everywhere.
struct NeedleDocument {
  std::string text;
  std::array<gate::Fact, 3> facts;

  /// The user message that asks for the fact.
  [[nodiscard]] std::string prompt(const gate::Fact& fact) const { return gate::ask(text, fact.question); }
};

/// Four equal chunks of `words` filler words in all, then `pads` single letters.
[[nodiscard]] NeedleDocument needle_document(std::uint64_t seed, std::int64_t words, std::int64_t pads);

/// The largest document whose longest prompt the counter finds not above `tokens`: exactly `tokens` where single
/// letters can close the rest. kUsage when the questions alone are longer; the counter's own error otherwise.
[[nodiscard]] Result<NeedleDocument> fit_document(std::uint64_t seed, std::int64_t tokens,
                                                  const load::TokenCounter& count);

/// Makes documents of a wanted size on one server: by its /tokenize, else by the usage of two short requests.
class NeedleSizer {
 public:
  NeedleSizer(http::Transport& transport, const engine::Endpoint& endpoint);

  /// kUnavailable when the server says nowhere how long a prompt is; the errors of its requests otherwise.
  [[nodiscard]] Result<NeedleDocument> make(std::uint64_t seed, std::int64_t tokens);

 private:
  [[nodiscard]] Status calibrate();
  [[nodiscard]] Result<std::int64_t> count_by_usage(const std::string& prompt);

  http::Transport& transport_;
  const engine::Endpoint& endpoint_;
  std::optional<engine::Tokenizer> tokenizer_;
  std::optional<load::Calibration> calibration_;
};

}  // namespace bk::leg
