#include "physics/rounds.h"

#include <unordered_map>

#include "physics/random.h"

namespace bk::physics {
namespace {

struct Stream {
  double first_s = 0, last_s = 0;
  int first_tokens = 0, tokens = 0;
};

// What one round adds up to while its steps run.
struct Tally {
  std::unordered_map<SequenceId, Stream> streams;
  double now_s = 0, decode_s = 0;
  int decode_steps = 0;
  std::int64_t drafts = 0, drafted = 0, accepted = 0;
};

void tally_step(const Step& step, Tally& tally) {
  tally.now_s += step.duration_s;
  if (step.prefill_tokens == 0) {
    tally.decode_s += step.duration_s;
    ++tally.decode_steps;
  }
  for (const Emission& e : step.emissions) {
    Stream& stream = tally.streams[e.id];
    if (e.first) {
      stream.first_s = tally.now_s;
      stream.first_tokens = e.tokens;
    }
    stream.tokens += e.tokens;
    stream.last_s = tally.now_s;
    tally.drafts += e.drafted > 0 ? 1 : 0;
    tally.drafted += e.drafted;
    tally.accepted += e.accepted;
  }
}

RoundSample summarise(const Tally& tally) {
  RoundSample sample;
  sample.wall_s = tally.now_s;
  std::int64_t tokens = 0;
  for (const auto& [id, stream] : tally.streams) {
    tokens += stream.tokens;
    sample.ttft_s += stream.first_s / static_cast<double>(tally.streams.size());
    const double window_s = stream.last_s - stream.first_s;
    if (window_s > 0) sample.decode_tok_s += (stream.tokens - stream.first_tokens) / window_s;
  }
  sample.round_tok_s = static_cast<double>(tokens) / tally.now_s;
  if (tally.drafted > 0) {
    sample.raw_acceptance = static_cast<double>(tally.accepted) / static_cast<double>(tally.drafted);
    sample.tokens_per_step = 1.0 + static_cast<double>(tally.accepted) / static_cast<double>(tally.drafts);
  }
  if (tally.decode_steps > 0) sample.step_s = tally.decode_s / tally.decode_steps;
  return sample;
}

}  // namespace

std::vector<RoundSample> simulate_rounds(const Params& params, std::uint64_t seed, std::uint64_t boot_index,
                                         const RoundPlan& plan) {
  Engine engine(params, seed, boot_index);
  std::vector<RoundSample> samples;
  for (int round = 0; round < plan.rounds; ++round) {
    for (int i = 0; i < plan.concurrency; ++i) {
      Work work;
      work.prompt_tokens = plan.prompt_tokens;
      work.max_tokens = plan.max_tokens;
      work.content = mix({plan.content_base, static_cast<std::uint64_t>(round), static_cast<std::uint64_t>(i)});
      engine.add(std::move(work));
    }
    Tally tally;
    while (!engine.idle()) tally_step(engine.step(), tally);
    samples.push_back(summarise(tally));
  }
  return samples;
}

}  // namespace bk::physics
