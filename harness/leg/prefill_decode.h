#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "base/result.h"
#include "engine/endpoint.h"
#include "http/transport.h"
#include "leg/sink.h"

namespace bk::leg {

/// A long cold prefill and a short decode, one after the other: the historical two-number check of an engine.
struct PrefillDecodePlan {
  std::int64_t prefill_tokens = 61440;
  int decode_tokens = 800;
  int reps = 1;
  std::uint64_t seed = 0;                     ///< 0: a fresh one from the clock
  std::optional<std::int64_t> context_limit;  ///< what the server holds; nothing: not known
  Nanos request_timeout = 900 * kSecond;
  std::function<bool()> stopped;  ///< polled while requests run; empty: never
};

/// Samples of the cells "prefill" (one token asked for; prefill_tok_s, ttft_ms, cached_tokens; a warm one has no
/// figures) and "decode" (decode_tok_s; e2e_tok_s is the historical figure, prefill inside). A short decode swings with
/// acceptance by tens of percent: it is no basis for comparison. kUsage for a prefill that the server cannot hold.
[[nodiscard]] Status run_prefill_decode(http::Transport& transport, const engine::Endpoint& endpoint,
                                        const PrefillDecodePlan& plan, Sink& sink);

}  // namespace bk::leg
