#pragma once
#include <cstdint>
#include <vector>

#include "physics/engine.h"

namespace bk::physics {

/// The requests that one simulated sample consists of.
struct RoundPlan {
  int concurrency = 1;
  int rounds = 6;
  std::int64_t prompt_tokens = 96;
  std::int64_t max_tokens = 768;
  std::uint64_t content_base = 1;  ///< prompts repeat across boots when this does
};

/// One round of C concurrent requests, started together on an idle engine: what a bench would have measured.
struct RoundSample {
  double wall_s = 0;           ///< first send to last end, prefill included
  double decode_tok_s = 0;     ///< sum over streams of tokens after the first event / (last event - first event)
  double round_tok_s = 0;      ///< all tokens / wall_s
  double ttft_s = 0;           ///< mean over streams
  double raw_acceptance = 0;   ///< accepted / drafted; 0 when nothing was drafted
  double tokens_per_step = 0;  ///< 1 + accepted / drafts
  double step_s = 0;           ///< mean duration of the round's decode-only steps
};

/// Runs the plan's rounds one after another on one boot, without sockets or clock. Deterministic in its arguments.
/// A C = 1 round of 768 tokens costs about 320 steps: some tens of microseconds.
[[nodiscard]] std::vector<RoundSample> simulate_rounds(const Params& params, std::uint64_t seed,
                                                       std::uint64_t boot_index, const RoundPlan& plan);

}  // namespace bk::physics
