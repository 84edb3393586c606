#pragma once
#include <cstdint>
#include <functional>

#include "base/result.h"
#include "engine/endpoint.h"
#include "http/transport.h"
#include "leg/sink.h"

namespace bk::leg {

/// Requests of two arms in turn: each pair asks both, in an order thrown for it, right after one another.
struct PairsPlan {
  int pairs = 30;
  int warmup = 1;  ///< pairs discarded before the measured ones
  int max_tokens = 256;
  double temperature = 0.95;
  std::uint64_t seed = 0;  ///< of prompts and of the order
  Nanos request_timeout = 1800 * kSecond;
  std::function<bool()> stopped;  ///< polled while requests run; empty: never
};

/// Cells of the samples; `position` is the pair.
inline constexpr const char* kBaseCell = "C=1 base";
inline constexpr const char* kCandCell = "C=1 cand";

/// Hands each sample to the sink as it ends, with the metrics of run_decode(). No two requests share a prompt, so that
/// the second of a pair finds nothing of it in a cache. The endpoints may be one server with different extra_body, or
/// two servers. Errors: what the sink returns, kInterrupted when stopped; a failed request is a failed sample.
[[nodiscard]] Status run_pairs(http::Transport& transport, const engine::Endpoint& base, const engine::Endpoint& cand,
                               const PairsPlan& plan, Sink& sink);

}  // namespace bk::leg
