#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "tokenizer.h"

namespace bk::sim {

/// An error as the OpenAI-compatible servers word it.
struct ApiError {
  int status = 400;
  std::string message, type = "BadRequestError";
  Json param;
  [[nodiscard]] std::string body() const;
};

/// A generation request, checked.
struct GenRequest {
  bool chat = true, stream = false, include_usage = false, continuous_usage = false, token_ids = false;
  bool ignore_eos = false, thinking = true;
  int n = 1;
  std::int64_t max_tokens = 16;
  std::int64_t min_tokens = 0;
  double temperature = 0.8;
  std::optional<std::int64_t> seed;
  std::string prompt;    ///< as rendered for the model
  std::string question;  ///< the last user message (the prompt itself for completions)
  std::vector<std::int32_t> prompt_ids;
};

struct ModelLimits {
  std::string model;
  std::int64_t max_model_len = 0;
  std::int64_t kv_tokens = 0;
};

/// Reads and checks a body. On failure `error` says why and nothing is returned.
[[nodiscard]] std::optional<GenRequest> parse_gen_request(std::string_view body, bool chat, const Tokenizer& tokenizer,
                                                          const ModelLimits& limits, ApiError& error);
/// The text that the model sees for a list of messages; `generation` adds the assistant's cue.
[[nodiscard]] std::string render_messages(const Json& messages, bool generation);

}  // namespace bk::sim
