#pragma once
#include <cstdint>
#include <deque>
#include <list>
#include <unordered_map>
#include <vector>

#include "physics/params.h"

namespace bk::physics {

using SequenceId = std::uint64_t;

/// What a client asks of the engine.
struct Work {
  std::int64_t prompt_tokens = 1;
  std::int64_t max_tokens = 1;              ///< tokens to generate before the sequence ends
  std::uint64_t content = 0;                ///< hash of the prompt: the part of luck that every boot shares
  std::vector<std::uint64_t> block_hashes;  ///< hash chain of the prompt's full blocks; empty: never cached
};

/// Hash chain of a prompt's full blocks: entry i covers tokens [0, (i+1) * block_tokens).
[[nodiscard]] std::vector<std::uint64_t> block_chain(const std::vector<std::int32_t>& tokens, int block_tokens);

/// Tokens that one sequence gained in one step.
struct Emission {
  SequenceId id = 0;
  int tokens = 0;   ///< 1 + accepted
  int drafted = 0;  ///< draft tokens proposed (0: the first token, or no speculation)
  int accepted = 0;
  bool first = false;              ///< the token that prefill gives
  bool last = false;               ///< max_tokens reached: the sequence has left the engine
  std::int64_t cached_tokens = 0;  ///< with `first`: prompt tokens that came from the prefix cache
};

/// One step, as planned when it begins. Its emissions exist when duration_s has passed.
struct Step {
  double duration_s = 0;
  int decode_sequences = 0;
  int prefill_tokens = 0;
  std::vector<Emission> emissions;
};

/// Monotonic counters of one boot, as a metrics page shows them.
struct EngineCounters {
  std::int64_t steps = 0, drafts = 0, draft_tokens = 0, accepted_tokens = 0;
  std::vector<std::int64_t> accepted_per_position;
  std::int64_t prompt_tokens = 0, generation_tokens = 0, cached_tokens = 0;
  std::int64_t prefix_queries = 0;              ///< prompt tokens looked up in the prefix cache
  std::vector<std::int64_t> iteration_buckets;  ///< steps by tokens processed, cumulative over iteration_bounds()
  std::int64_t iteration_tokens_sum = 0;
};
/// Upper bounds of the tokens-per-step histogram, without +Inf.
[[nodiscard]] const std::vector<int>& iteration_bounds();

/// Discrete-step continuous batching with chunked prefill, a prefix cache by blocks and speculative decoding.
///
/// Pure: no clock, no I/O; time passes only as the sum of step durations. Each step has a budget of max_num_batched
/// tokens: every decoding sequence takes its drafts + 1, then prefill chunks share the rest, oldest first, then waiting
/// requests are admitted while sequences and KV space allow. All randomness is addressed by (seed, boot index, request
/// number or step number), so that the same calls give the same run.
class Engine {
 public:
  Engine(Params params, std::uint64_t seed, std::uint64_t boot_index);

  /// Queues a request. `work.prompt_tokens + work.max_tokens` must be at most max_model_len (BK_CHECK).
  SequenceId add(Work work);
  /// Forgets a sequence wherever it is. Unknown ids are ignored.
  void cancel(SequenceId id);
  /// True when nothing runs or waits: step() would do nothing.
  [[nodiscard]] bool idle() const { return running_.empty() && waiting_.empty(); }
  /// Runs one step. Must not be called when idle (BK_CHECK).
  [[nodiscard]] Step step();

  [[nodiscard]] int running() const { return static_cast<int>(running_.size()); }
  [[nodiscard]] int waiting() const { return static_cast<int>(waiting_.size()); }
  [[nodiscard]] double kv_usage_ratio() const;
  void reset_prefix_cache();
  [[nodiscard]] const EngineCounters& counters() const { return counters_; }
  [[nodiscard]] const Params& params() const { return params_; }
  /// This boot's factor on every step time, drift included.
  [[nodiscard]] double boot_factor() const { return boot_factor_; }

 private:
  struct Sequence {
    SequenceId id = 0;
    Work work;
    std::int64_t computed = 0;  // prompt tokens done, cached ones included
    std::int64_t cached = 0;
    std::int64_t generated = 0;
    std::int64_t steps = 0;
    double luck = 1.0;
  };
  using Running = std::list<Sequence>;

  [[nodiscard]] int decode(Sequence& sequence, Step& step, int budget);
  [[nodiscard]] int prefill(Sequence& sequence, Step& step, int budget);
  [[nodiscard]] int admit(Step& step, int budget);
  void remember(const Sequence& sequence);
  void evict_to_fit();
  [[nodiscard]] std::int64_t cached_prefix(const Work& work);
  [[nodiscard]] double step_duration(const Step& step, double context) const;
  [[nodiscard]] int accepted(const Sequence& sequence, int drafted) const;
  void count(const Step& step);

  Params params_;
  std::uint64_t seed_, boot_;
  double boot_factor_ = 1.0;
  SequenceId next_id_ = 1;
  std::deque<Sequence> waiting_;
  Running running_;
  std::int64_t kv_used_ = 0;              // tokens reserved by running sequences
  std::list<std::uint64_t> cache_order_;  // least recently used first
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> cache_;
  EngineCounters counters_;
};

}  // namespace bk::physics
