#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "engine/endpoint.h"
#include "http/transport.h"

namespace bk::engine {

enum class Api { kChat, kCompletions };
/// "/v1/chat/completions" or "/v1/completions".
const char* path_of(Api api);

/// What one generation request asks for. Fields left empty are not sent: the server's defaults hold.
struct Generation {
  Api api = Api::kChat;
  std::string prompt;  ///< chat: the one user message
  std::optional<int> max_tokens;
  std::optional<double> temperature;
  std::optional<std::int64_t> seed;
  bool ignore_eos = false;    ///< with max_tokens: min_tokens = max_tokens too, so that every server runs on
  bool thinking_off = false;  ///< chat_template_kwargs {"thinking": false}; chat only
  bool stream = true;
  bool include_usage = true;     ///< stream_options.include_usage; streams only
  bool per_event_counts = true;  ///< continuous_usage_stats and return_token_ids; streams only, others ignore them
};

/// The JSON body. The endpoint's model and then its extra_body (member by member, last word) are merged in.
[[nodiscard]] Json make_body(const Endpoint& endpoint, const Generation& generation);

/// An answer that has begun and then says nothing for this long is given up. Another request's prefill may silence it
/// for minutes: 430,000 tokens at 2,800 a second take 154 s.
inline constexpr Nanos kLongestSilence = 300 * kSecond;

/// The whole POST, with kLongestSilence where `timeouts` names no idle limit: body, Content-Type, Accept, the
/// endpoint's headers, Authorization when it has a key.
[[nodiscard]] http::Request make_request(const Endpoint& endpoint, const Generation& generation,
                                         const http::Timeouts& timeouts = {});

/// A GET (or, with a body, a POST of JSON) to `path` of the endpoint's base URL, with the same headers. 10 s in all
/// unless `timeouts` says otherwise.
[[nodiscard]] http::Request plain_request(const Endpoint& endpoint, std::string_view path, const Json& body = {},
                                          const http::Timeouts& timeouts = {.total = 10 * kSecond});

/// The base URL as DESIGN wants it: no trailing slash, no trailing /v1. "http://h:1/v1/" -> "http://h:1".
[[nodiscard]] std::string normal_base_url(std::string_view url);

/// The server's message inside an error body: {"error":{"message":…}}, {"error":"…"}, {"message":…}, {"detail":…}, or
/// the first line of plain text, at most 300 bytes.
[[nodiscard]] std::string error_message(std::string_view body);

}  // namespace bk::engine
