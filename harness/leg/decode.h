#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "engine/endpoint.h"
#include "http/transport.h"
#include "leg/sink.h"
#include "load/content.h"

namespace bk::leg {

/// Decode speed on short prompts: for each concurrency, `warmup` discarded rounds and `reps` measured ones.
/// Prompts repeat across boots by design (the same seeds give the same text), so that both arms see identical work.
struct DecodePlan {
  std::vector<int> concurrency = {1, 2, 4};
  int reps = 6;
  int warmup = 1;
  int max_tokens = 768;
  double temperature = 0.95;
  bool ignore_eos = false;  ///< ask for exactly max_tokens; a shorter answer then fails
  std::uint64_t seed = 0;   ///< added to the seeds of every prompt
  /// Content sets to decode, each with short and long answers in cells of their own; empty: the historical topics.
  std::vector<load::ContentShare> content;
  Nanos step_window = 2 * kSecond;  ///< between two readings of the engine's own step counter; 0: none
  Nanos request_timeout = 1800 * kSecond;
  std::function<bool()> stopped;  ///< polled while requests run; empty: never
};

/// Runs the rounds and hands each sample to the sink as it ends. Cells are "C=1", "C=2" …, with
/// content "C=1 code short", "C=1 code long" …. Metrics of a sample:
///   decode_tok_s, decode_tok_s_n_minus_1, tpot_ms, ttft_ms, itl_event_ms   medians over its requests
///   round_tok_s   sum of tokens / wall from first send to last end, prefill included (the older ledger's figure)
///   step_s        decode_tok_s / (1 + k_eff * raw): engine steps per second; C = 1 only
///   window_step_s median of the engine's own steps per second, window by window (see window_step_rates())
/// Errors: what the sink returns, kInterrupted when stopped; a failed request is a failed sample, not an error.
/// Source: DESIGN 4; request fields of the historical tool (768 tokens, temperature 0.95, thinking off).
[[nodiscard]] Status run_decode(http::Transport& transport, const engine::Endpoint& endpoint, const DecodePlan& plan,
                                Sink& sink);

}  // namespace bk::leg
