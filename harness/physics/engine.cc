#include "physics/engine.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "physics/random.h"

namespace bk::physics {
namespace {

// What a draw is for: the first word of its address.
enum Purpose : std::uint64_t { kBoot = 1, kContentLuck, kRequestLuck, kAccept, kStep, kStall, kBlock };

double log_normal(double sd, std::uint64_t address) { return std::exp(sd * normal(address) - sd * sd / 2); }

}  // namespace

const std::vector<int>& iteration_bounds() {
  static const std::vector<int> bounds = {1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384};
  return bounds;
}

std::vector<std::uint64_t> block_chain(const std::vector<std::int32_t>& tokens, int block_tokens) {
  std::vector<std::uint64_t> chain;
  const auto size = static_cast<std::size_t>(block_tokens);
  std::uint64_t previous = kBlock;
  for (std::size_t begin = 0; begin + size <= tokens.size(); begin += size) {
    for (std::size_t i = begin; i < begin + size; ++i) {
      previous = mix({previous, static_cast<std::uint64_t>(tokens[i])});
    }
    chain.push_back(previous);
  }
  return chain;
}

Engine::Engine(Params params, std::uint64_t seed, std::uint64_t boot_index)
    : params_(std::move(params)), seed_(seed), boot_(boot_index) {
  BK_CHECK(params_.spec_tokens <= static_cast<int>(params_.accept_cumulative.size()));
  boot_factor_ = log_normal(params_.boot_sd, mix({kBoot, seed, boot_index})) *
                 (1.0 + params_.drift_per_boot * static_cast<double>(boot_index));
  counters_.accepted_per_position.assign(static_cast<std::size_t>(params_.spec_tokens), 0);
  counters_.iteration_buckets.assign(iteration_bounds().size(), 0);
}

SequenceId Engine::add(Work work) {
  BK_CHECK(work.prompt_tokens > 0 && work.max_tokens > 0);
  BK_CHECK(work.prompt_tokens + work.max_tokens <= params_.max_model_len);
  Sequence sequence;
  sequence.id = next_id_++;
  sequence.luck = log_normal(params_.content_luck_sd, mix({kContentLuck, work.content})) *
                  log_normal(params_.request_luck_sd, mix({kRequestLuck, seed_, boot_, sequence.id}));
  sequence.work = std::move(work);
  waiting_.push_back(std::move(sequence));
  return waiting_.back().id;
}

void Engine::cancel(SequenceId id) {
  const auto is = [id](const Sequence& s) { return s.id == id; };
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), is), waiting_.end());
  const auto found = std::find_if(running_.begin(), running_.end(), is);
  if (found == running_.end()) return;
  kv_used_ -= found->work.prompt_tokens + found->work.max_tokens;
  running_.erase(found);
}

Step Engine::step() {
  BK_CHECK(!idle());
  Step step;
  double context = 0;
  int budget = params_.max_num_batched;
  for (Sequence& s : running_) {
    if (s.computed < s.work.prompt_tokens) continue;
    context += static_cast<double>(s.work.prompt_tokens + s.generated);
    budget -= decode(s, step, budget);
  }
  for (Sequence& s : running_) {
    if (s.computed < s.work.prompt_tokens) budget -= prefill(s, step, budget);
  }
  budget -= admit(step, budget);
  step.duration_s = step_duration(step, context);
  count(step);
  running_.remove_if([this](const Sequence& s) {
    if (s.generated < s.work.max_tokens) return false;
    kv_used_ -= s.work.prompt_tokens + s.work.max_tokens;
    return true;
  });
  return step;
}

int Engine::decode(Sequence& s, Step& step, int budget) {
  const std::int64_t left = s.work.max_tokens - s.generated;
  const int drafted = static_cast<int>(std::min<std::int64_t>(params_.spec_tokens, left - 1));
  if (drafted + 1 > budget) return 0;
  Emission emission;
  emission.id = s.id;
  emission.drafted = drafted;
  emission.accepted = accepted(s, drafted);
  emission.tokens = 1 + emission.accepted;
  s.generated += emission.tokens;
  ++s.steps;
  emission.last = s.generated >= s.work.max_tokens;
  step.emissions.push_back(emission);
  ++step.decode_sequences;
  return drafted + 1;
}

int Engine::prefill(Sequence& s, Step& step, int budget) {
  const int chunk = static_cast<int>(std::min<std::int64_t>(budget, s.work.prompt_tokens - s.computed));
  if (chunk <= 0) return 0;
  s.computed += chunk;
  step.prefill_tokens += chunk;
  if (s.computed < s.work.prompt_tokens) return chunk;
  remember(s);
  s.generated = 1;
  Emission emission;
  emission.id = s.id;
  emission.tokens = 1;
  emission.first = true;
  emission.last = s.work.max_tokens == 1;
  emission.cached_tokens = s.cached;
  step.emissions.push_back(emission);
  return chunk;
}

int Engine::admit(Step& step, int budget) {
  int used = 0;
  while (!waiting_.empty() && used < budget && running() < params_.max_num_seqs) {
    Sequence& next = waiting_.front();
    const std::int64_t need = next.work.prompt_tokens + next.work.max_tokens;
    if (!running_.empty() && kv_used_ + need > params_.kv_tokens) break;
    next.cached = cached_prefix(next.work);
    next.computed = next.cached;
    counters_.prefix_queries += next.work.prompt_tokens;
    counters_.cached_tokens += next.cached;
    counters_.prompt_tokens += next.work.prompt_tokens;
    kv_used_ += need;
    running_.push_back(std::move(next));
    waiting_.pop_front();
    evict_to_fit();
    used += prefill(running_.back(), step, budget - used);
  }
  return used;
}

void Engine::remember(const Sequence& s) {
  for (const std::uint64_t block : s.work.block_hashes) {
    const auto found = cache_.find(block);
    if (found != cache_.end()) cache_order_.erase(found->second);
    cache_order_.push_back(block);
    cache_[block] = std::prev(cache_order_.end());
  }
  evict_to_fit();
}

// Cached blocks live in the space that running sequences leave.
void Engine::evict_to_fit() {
  const std::int64_t room = std::max<std::int64_t>(0, params_.kv_tokens - kv_used_) / params_.block_tokens;
  while (static_cast<std::int64_t>(cache_.size()) > room) {
    cache_.erase(cache_order_.front());
    cache_order_.pop_front();
  }
}

// The last prompt token is always computed: its output is the first generated token.
std::int64_t Engine::cached_prefix(const Work& work) {
  const std::int64_t most = (work.prompt_tokens - 1) / params_.block_tokens;
  std::int64_t blocks = 0;
  for (const std::uint64_t hash : work.block_hashes) {
    const auto found = cache_.find(hash);
    if (blocks == most || found == cache_.end()) break;
    cache_order_.splice(cache_order_.end(), cache_order_, found->second);
    ++blocks;
  }
  return blocks * params_.block_tokens;
}

double Engine::step_duration(const Step& step, double context) const {
  const Params& p = params_;
  const int beyond = p.spec_tokens - p.reference_spec_tokens;
  const double drafts = step.decode_sequences == 0 ? 0 : beyond * (beyond > 0 ? p.draft_step_beyond_s : p.draft_step_s);
  const double decode = (p.step_fixed_s + p.step_per_sequence_s * step.decode_sequences + drafts) * p.decode_scale;
  const double planned = decode + p.step_per_context_token_s * context + p.prefill_per_token_s * step.prefill_tokens;
  const auto index = static_cast<std::uint64_t>(counters_.steps);
  const bool stalls = uniform(mix({kStall, seed_, boot_, index})) < p.stall_per_step;
  return planned * boot_factor_ * log_normal(p.step_sd, mix({kStep, seed_, boot_, index})) + (stalls ? p.stall_s : 0);
}

// Inverse of the cumulative law: one uniform decides how many drafts are accepted, as in a real verification.
int Engine::accepted(const Sequence& s, int drafted) const {
  const double depth =
      std::min(1.0, static_cast<double>(s.work.prompt_tokens + s.generated) / params_.deep_context_tokens);
  const double factor = s.luck * params_.accept_factor * (1.0 + (params_.deep_accept_factor - 1.0) * depth);
  const double u = uniform(mix({kAccept, seed_, boot_, s.id, static_cast<std::uint64_t>(s.steps)}));
  int count = 0;
  while (count < drafted && u < std::min(0.98, params_.accept_cumulative[static_cast<std::size_t>(count)] * factor))
    ++count;
  return count;
}

void Engine::count(const Step& step) {
  ++counters_.steps;
  std::int64_t processed = step.prefill_tokens;
  for (const Emission& e : step.emissions) {
    counters_.generation_tokens += e.tokens;
    if (!e.first) processed += e.tokens;
    if (e.drafted == 0) continue;
    ++counters_.drafts;
    counters_.draft_tokens += e.drafted;
    counters_.accepted_tokens += e.accepted;
    for (int i = 0; i < e.accepted; ++i) ++counters_.accepted_per_position[static_cast<std::size_t>(i)];
  }
  counters_.iteration_tokens_sum += processed;
  const auto& bounds = iteration_bounds();
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (processed <= bounds[i]) ++counters_.iteration_buckets[i];
  }
}

double Engine::kv_usage_ratio() const { return static_cast<double>(kv_used_) / static_cast<double>(params_.kv_tokens); }

void Engine::reset_prefix_cache() {
  cache_.clear();
  cache_order_.clear();
}

}  // namespace bk::physics
