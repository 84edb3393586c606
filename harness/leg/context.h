#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "engine/endpoint.h"
#include "http/transport.h"
#include "leg/sink.h"

namespace bk::leg {

/// TTFT and decode speed apart, at each length of context: `reps` single requests, each on a prompt of its own.
struct ContextPlan {
  std::vector<std::int64_t> contexts = {2048, 32768, 131072};  ///< prompt tokens, chat template included
  int reps = 3;
  int warmup = 1;  ///< discarded requests at the first context, before anything is measured
  int max_tokens = 256;
  bool ignore_eos = true;
  std::uint64_t seed = 0;                     ///< 0: a fresh one from the clock, so that a second run is cold too
  std::optional<std::int64_t> context_limit;  ///< what the server holds, prompt and answer; nothing: not known
  Nanos request_timeout = 1800 * kSecond;
  std::function<bool()> stopped;  ///< polled while requests run; empty: never
};

/// Samples of the cells "2K", "32K" …, one request each. Cold by construction: the nonce stands in the first block of
/// the prompt. The cached tokens are read back all the same; a warm sample is warned of and has no figures but
/// cached_tokens. Metrics: ttft_ms, prefill_tok_s, decode_tok_s, tpot_ms, e2e_tok_s, cached_tokens.
/// kUsage for a context that the server cannot hold; PromptMaker's errors; the sink's; kInterrupted when stopped.
[[nodiscard]] Status run_context(http::Transport& transport, const engine::Endpoint& endpoint, const ContextPlan& plan,
                                 Sink& sink);

}  // namespace bk::leg
