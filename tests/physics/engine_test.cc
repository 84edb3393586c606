#include "physics/engine.h"

#include <catch2/catch.hpp>

#include "physics/knobs.h"

namespace bk::physics {
namespace {

// No noise and round numbers, so that every expected value below can be worked out by hand.
Params plain() {
  Params p;
  p.step_fixed_s = 0.030;
  p.step_per_sequence_s = 0.010;
  p.step_per_context_token_s = 0;
  p.prefill_per_token_s = 0.001;
  p.accept_cumulative = {1.0, 1.0};
  p.spec_tokens = 0;
  p.reference_spec_tokens = 0;
  p.content_luck_sd = p.request_luck_sd = p.boot_sd = p.step_sd = p.stall_per_step = 0;
  p.block_tokens = 4;
  p.max_num_batched = 100;
  return p;
}

std::vector<std::int32_t> ramp(int n) {
  std::vector<std::int32_t> tokens;
  for (int i = 0; i < n; ++i) tokens.push_back(i);
  return tokens;
}

TEST_CASE("a step costs its fixed part, its sequences, its prefill tokens and its context") {
  Params p = plain();
  p.step_per_context_token_s = 0.0001;
  Engine engine(p, 1, 0);
  engine.add({50, 3, 0, {}});
  const Step prefill = engine.step();
  CHECK(prefill.duration_s == Approx(0.030 + 50 * 0.001));
  REQUIRE(prefill.emissions.size() == 1);
  CHECK(prefill.emissions[0].first);
  CHECK(engine.step().duration_s == Approx(0.030 + 0.010 + 51 * 0.0001));
  const Step last = engine.step();
  CHECK(last.duration_s == Approx(0.030 + 0.010 + 52 * 0.0001));
  CHECK(last.emissions[0].last);
  CHECK(engine.idle());
  CHECK(engine.counters().generation_tokens == 3);
  CHECK(engine.counters().steps == 3);
}

TEST_CASE("prefill is cut into chunks that share the step's budget with decoding sequences") {
  Params p = plain();
  p.spec_tokens = 1;
  p.reference_spec_tokens = 1;
  Engine engine(p, 1, 0);
  engine.add({10, 100, 0, {}});
  CHECK(engine.step().prefill_tokens == 10);
  engine.add({250, 1, 0, {}});
  // The decoding sequence takes k + 1 = 2 of the 100 tokens.
  std::vector<int> chunks;
  for (int i = 0; i < 3; ++i) chunks.push_back(engine.step().prefill_tokens);
  CHECK(chunks == std::vector<int>{98, 98, 54});
  CHECK(engine.running() == 1);
}

TEST_CASE("drafts are cut at the tokens that are left, and the counters add up") {
  Params p = plain();
  p.spec_tokens = 2;
  p.reference_spec_tokens = 2;
  p.accept_cumulative = {5.0, 5.0};  // capped at 0.98: nearly always accepted
  Engine engine(p, 3, 0);
  engine.add({8, 60, 0, {}});
  int plain_steps = 0;
  std::int64_t tokens = 0;
  while (!engine.idle()) {
    const Step step = engine.step();
    for (const Emission& e : step.emissions) {
      tokens += e.tokens;
      plain_steps += e.drafted == 0 ? 1 : 0;
      CHECK(e.tokens == 1 + e.accepted);
      CHECK(e.accepted <= e.drafted);
    }
  }
  const EngineCounters& c = engine.counters();
  CHECK(tokens == 60);
  CHECK(c.generation_tokens == c.accepted_tokens + c.drafts + plain_steps);
  CHECK(c.accepted_per_position[0] + c.accepted_per_position[1] == c.accepted_tokens);
  CHECK(c.accepted_per_position[0] >= c.accepted_per_position[1]);
}

TEST_CASE("a repeated prompt is answered from the prefix cache, but for its last block") {
  Params p = plain();
  Engine engine(p, 1, 0);
  const auto chain = block_chain(ramp(16), p.block_tokens);
  REQUIRE(chain.size() == 4);
  engine.add({16, 1, 0, chain});
  CHECK(engine.step().emissions[0].cached_tokens == 0);
  engine.add({16, 1, 0, chain});
  const Step second = engine.step();
  CHECK(second.emissions[0].cached_tokens == 12);  // the last token must be computed: (16 - 1) / 4 blocks
  CHECK(second.prefill_tokens == 4);
  auto other = ramp(16);
  other[5] = 99;
  engine.add({16, 1, 0, block_chain(other, p.block_tokens)});
  CHECK(engine.step().emissions[0].cached_tokens == 4);  // only the first block is the same
  engine.reset_prefix_cache();
  engine.add({16, 1, 0, chain});
  CHECK(engine.step().emissions[0].cached_tokens == 0);
  CHECK(engine.counters().cached_tokens == 16);
}

TEST_CASE("running sequences push cached blocks out of the KV space") {
  Params p = plain();
  p.kv_tokens = 24;
  Engine engine(p, 1, 0);
  const auto chain = block_chain(ramp(16), p.block_tokens);
  engine.add({16, 1, 0, chain});
  (void)engine.step();
  engine.add({22, 1, 0, {}});  // leaves room for no block
  (void)engine.step();
  engine.add({16, 1, 0, chain});
  CHECK(engine.step().emissions[0].cached_tokens == 0);
}

TEST_CASE("sequences beyond max_num_seqs or the KV space wait their turn") {
  Params p = plain();
  SECTION("max_num_seqs") { p.max_num_seqs = 2; }
  SECTION("kv") { p.kv_tokens = 45; }  // two of 10 + 10 fit
  Engine engine(p, 1, 0);
  for (int i = 0; i < 3; ++i) engine.add({10, 10, 0, {}});
  (void)engine.step();
  CHECK(engine.running() == 2);
  CHECK(engine.waiting() == 1);
  while (engine.waiting() > 0) (void)engine.step();
  CHECK(engine.counters().steps == 11);  // admitted once the first two gave their ten tokens
  CHECK(engine.running() == 1);
}

TEST_CASE("a cancelled sequence frees its place") {
  Params p = plain();
  p.max_num_seqs = 1;
  Engine engine(p, 1, 0);
  const auto first = engine.add({10, 100, 0, {}});
  const auto second = engine.add({10, 2, 0, {}});
  (void)engine.step();
  engine.cancel(first);
  CHECK(engine.step().emissions.at(0).id == second);
  engine.cancel(second);
  CHECK(engine.idle());
  CHECK(engine.kv_usage_ratio() == 0);
}

TEST_CASE("the same seed and boot give the same run; another boot another") {
  const auto run = [](std::uint64_t seed, std::uint64_t boot) {
    const auto configured = configure("sim-dsv4", {});
    Engine engine(configured->params, seed, boot);
    engine.add({100, 200, 7, {}});
    double total_s = 0;
    while (!engine.idle()) total_s += engine.step().duration_s;
    return total_s;
  };
  CHECK(run(1, 0) == run(1, 0));
  CHECK(run(1, 0) != run(1, 1));
  CHECK(run(1, 0) != run(2, 0));
}

TEST_CASE("drift lengthens each boot by its share, and boot noise has the spread it was given") {
  Params p = plain();
  p.drift_per_boot = 0.01;
  CHECK(Engine(p, 1, 3).boot_factor() == Approx(1.03));
  p.drift_per_boot = 0;
  p.boot_sd = 0.02;
  double sum = 0, squares = 0;
  constexpr int kBoots = 2000;
  for (int boot = 0; boot < kBoots; ++boot) {
    const double log_factor = std::log(Engine(p, 5, static_cast<std::uint64_t>(boot)).boot_factor());
    sum += log_factor;
    squares += log_factor * log_factor;
  }
  CHECK(sum / kBoots == Approx(0.0).margin(0.0015));
  CHECK(std::sqrt(squares / kBoots) == Approx(0.02).epsilon(0.05));
}

}  // namespace
}  // namespace bk::physics
