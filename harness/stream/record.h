#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace bk::stream {

/// How one request ended. Everything but kOk is a failed request: it joins no latency and no rate.
enum class Outcome {
  kOk,
  kConnect,      ///< no connection (DNS, TCP, TLS)
  kHttpStatus,   ///< a status other than 2xx
  kServerError,  ///< an error inside a 200: an error event, finish_reason abort/error, a JSON error body
  kCut,          ///< the stream ended before its end was announced ([DONE] or a finish_reason), or broke before usage
  kEmpty,        ///< a 200 without a single data event
  kTimeout,      ///< a stated limit ran out
  kShort,        ///< fewer tokens than ignore_eos asked for
  kNotStream,    ///< a 200 whose body is neither SSE nor a chat answer
  kCancelled,    ///< stopped by this program
};
const char* to_string(Outcome outcome);

/// Where `completion_tokens` comes from; never the number of events.
enum class TokensSource { kNone, kUsage, kContinuousUsage, kTokenIds };
const char* to_string(TokensSource source);

/// How decode_tok_s was computed. kExact: tokens after the first event are known. kNMinusOne: (tokens - 1).
enum class DecodeBasis { kNone, kExact, kNMinusOne };
const char* to_string(DecodeBasis basis);

/// One token-bearing event.
struct TokenEvent {
  Nanos at = 0;              ///< arrival, relative to `sent`
  std::int32_t tokens = -1;  ///< tokens that it carried; -1 when the server does not say
};

/// The server's `usage`, the last one that was not null.
struct Usage {
  std::optional<std::int64_t> prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens;
};

/// llama.cpp's `timings`, where the server sends them.
struct ServerTimings {
  std::optional<double> prompt_ms, predicted_ms;
  std::optional<std::int64_t> prompt_n, predicted_n, cache_n, draft_n, draft_n_accepted;
};

/// A number that may be missing, and then says why: exactly one of the two is set.
struct Figure {
  std::optional<double> value;
  std::string reason;  ///< snake_case, e.g. "one_event", "zero_window", "no_usage"; schema/README.md lists a request's
  static Figure of(double v) { return {v, {}}; }
  static Figure none(std::string why) { return {std::nullopt, std::move(why)}; }
};

/// One request, whole. All times are nanoseconds on CLOCK_MONOTONIC; those named in DESIGN 4 relative to `sent`.
struct RequestRecord {
  Outcome outcome = Outcome::kOk;
  std::string reason;            ///< one line, the server's message where it gave one; empty when ok
  int http_status = 0;           ///< 0: none came
  Nanos scheduled = 0;           ///< absolute: intended start
  Nanos sent = 0;                ///< absolute: first byte of the request written, on a standing connection
  std::optional<Nanos> connect;  ///< DNS + TCP + TLS; nothing on a reused connection
  bool connection_reused = false;
  int reopened = 0;  ///< a reused connection that ended before any byte, opened anew
  std::optional<Nanos> headers, ttfr, ttft, first_answer, last_token, end;

  std::vector<TokenEvent> events;  ///< token-bearing events, in order of arrival
  std::int64_t data_events = 0;    ///< SSE events with data, [DONE] included
  bool done_seen = false;

  TokensSource tokens_source = TokensSource::kNone;
  std::optional<std::int64_t> completion_tokens;
  std::optional<Usage> usage;
  std::optional<ServerTimings> timings;
  std::string finish_reason, model;
  std::string content, reasoning, tool_calls;  ///< generated text, in order

  DecodeBasis decode_basis = DecodeBasis::kNone;
  Figure decode_tok_s;            ///< DESIGN 4
  Figure decode_tok_s_n_minus_1;  ///< the field's usual convention, always beside it
  Figure tpot_ms;                 ///< 1000 / decode_tok_s, same basis
  Figure prefill_tok_s;           ///< (prompt - cached) / ttft
  Figure e2e_tok_s;               ///< completion tokens / end
  bool burst = false;             ///< every token event came in one read: buffered somewhere

  [[nodiscard]] bool ok() const { return outcome == Outcome::kOk; }
};

}  // namespace bk::stream
