#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace bk::physics {

/// Everything that decides how one engine behaves. Times are seconds.
///
/// A step with n decoding sequences, q prefill tokens and a summed decode context of c tokens takes
///   [ (step_fixed_s + step_per_sequence_s * n + draft part) * decode_scale + step_per_context_token_s * c
///     + prefill_per_token_s * q ] * boot factor * drift * step noise,   and now and then a stall on top.
/// The draft part is 0 at `reference_spec_tokens`; see draft_step_s.
struct Params {
  std::string profile = "sim";

  double step_fixed_s = 0.0338;
  double step_per_sequence_s = 0.0082;
  double step_per_context_token_s = 9.4e-8;
  double prefill_per_token_s = 3.49e-4;
  double decode_scale = 1.0;           ///< product of the knobs that shorten a decode step
  double draft_step_s = 0.0013;        ///< one draft position more or less, up to reference_spec_tokens
  double draft_step_beyond_s = 0.004;  ///< one draft position beyond it (outside the captured graph)

  int spec_tokens = 5;  ///< k, drafts per step and sequence; 0: no speculation
  int reference_spec_tokens = 5;
  std::vector<double> accept_cumulative;  ///< P(at least i+1 drafts accepted), i from 0: decreasing
  double accept_factor = 1.0;             ///< multiplies every entry (a knob that hurts acceptance)
  double deep_accept_factor = 1.0;        ///< the same, fully at deep_context_tokens of context, none at 0
  double deep_context_tokens = 128000;
  double content_luck_sd = 0.07;  ///< log-normal luck of the prompt: the same for a prompt in every boot
  double request_luck_sd = 0.05;  ///< log-normal luck of one request

  int max_num_batched = 4096;  ///< token budget of one step
  int max_num_seqs = 32;
  int max_model_len = 430000;
  int block_tokens = 256;  ///< prefix cache granularity
  std::int64_t kv_tokens = 2'660'000;

  double boot_sd = 0.003;        ///< log-normal factor on every step time of one boot
  double drift_per_boot = 0.0;   ///< relative step time added per boot index
  double step_sd = 0.01;         ///< log-normal factor of one step
  double stall_per_step = 1e-4;  ///< chance that a step stalls
  double stall_s = 0.2;          ///< length of a stall

  bool stride_bug = false;       ///< defect: facts deep in a long prompt are lost
  bool logit_bug = false;        ///< defect: greedy text parts from the first word on
  int korean_corrupt_every = 0;  ///< defect: each n-th Korean answer is corrupted; 0: none

  [[nodiscard]] Json to_json() const;
};

/// "sim-dsv4": 42 ms steps, k = 5, prefill about 2,800 tok/s; C = 1/2/4 decode at about 57/95/142 tok/s in sum.
/// "sim": the same engine, every time ten times shorter. kUsage with a suggestion for any other name.
/// Source: the dsv4 baseline of the ledger (57.4 / 95.6 / 141.6 tok/s, no-speculation floor 1000/42 tok/s).
[[nodiscard]] Result<Params> profile(const std::string& name);
[[nodiscard]] std::vector<std::string> profile_names();
/// The same engine with every time `factor` times shorter, and that in its profile's name ("sim x20"); 1 changes
/// nothing.
[[nodiscard]] Params faster(Params params, double factor);

}  // namespace bk::physics
