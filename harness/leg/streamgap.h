#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "base/result.h"
#include "engine/endpoint.h"
#include "http/transport.h"
#include "leg/phases.h"
#include "leg/sink.h"

namespace bk::leg {

/// Decode smoothness: one long stream, and after a while one long cold prefill beside it.
struct StreamgapPlan {
  int max_tokens = 1500;
  std::int64_t ingest_tokens = 34000;
  Nanos ingest_after = 6 * kSecond;           ///< from the stream's start
  std::uint64_t seed = 0;                     ///< 0: a fresh one from the clock
  std::optional<std::int64_t> context_limit;  ///< what the server holds; nothing: not known
  Nanos request_timeout = 900 * kSecond;
  std::function<bool()> stopped;  ///< polled while requests run; empty: never
};

/// One sample whose requests are the stream and the ingest. Metrics: {before,during,after}_tok_s and …_gap_max_ms;
/// with a reason where the disturbance cannot be told (see disturbance_of()).
[[nodiscard]] Status run_streamgap(http::Transport& transport, const engine::Endpoint& endpoint,
                                   const StreamgapPlan& plan, Sink& sink);

}  // namespace bk::leg
