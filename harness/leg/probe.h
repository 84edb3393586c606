#pragma once
#include <cstdint>
#include <functional>

#include "base/result.h"
#include "engine/endpoint.h"
#include "http/transport.h"
#include "leg/sink.h"

namespace bk::leg {

/// One endpoint at a glance: single cold requests of about `prompt_tokens` tokens, each with a nonce of its own in
/// its first line so that no prefix cache can answer.
struct ProbePlan {
  int requests = 5;  ///< measured
  int warmup = 2;    ///< discarded
  int prompt_tokens = 2048;
  int max_tokens = 128;
  bool ignore_eos = true;
  std::uint64_t seed = 0;  ///< 0: a fresh one from the clock, so that a second run is cold too
  Nanos request_timeout = 600 * kSecond;
  std::function<bool()> stopped;  ///< polled while requests run; empty: never
};

/// Samples of the cell "pp2048" (named after prompt_tokens), one request each. Metrics: ttft_ms, prefill_tok_s,
/// decode_tok_s, tpot_ms, e2e_tok_s, cached_tokens. Warns when the server says that it served part of a prompt from its
/// cache.
[[nodiscard]] Status run_probe(http::Transport& transport, const engine::Endpoint& endpoint, const ProbePlan& plan,
                               Sink& sink);

}  // namespace bk::leg
