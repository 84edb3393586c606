#include <catch2/catch.hpp>

#include "physics/knobs.h"
#include "physics/rounds.h"

namespace bk::physics {
namespace {

struct Mean {
  double decode_tok_s = 0, round_tok_s = 0, raw = 0, step_s = 0;
};

// Means over boots and rounds, without the noise of boots; the luck of acceptance stays.
Mean mean_of(const std::string& name, std::map<std::string, std::string> knobs, RoundPlan plan, int boots = 12) {
  knobs.emplace("BOOT_SD", "0");
  const auto configured = configure(name, knobs);
  REQUIRE(configured);
  Mean mean;
  const double n = static_cast<double>(boots) * plan.rounds;
  for (int boot = 0; boot < boots; ++boot) {
    for (const RoundSample& s : simulate_rounds(configured->params, 1, static_cast<std::uint64_t>(boot), plan)) {
      mean.decode_tok_s += s.decode_tok_s / n;
      mean.round_tok_s += s.round_tok_s / n;
      mean.raw += s.raw_acceptance / n;
      mean.step_s += s.step_s / n;
    }
  }
  return mean;
}

// Source: the ledger's dsv4 lane, C = 1/2/4.
TEST_CASE("sim-dsv4 decodes at the rates of the lane that it stands for") {
  struct Case {
    int concurrency;
    double tok_s;
  };
  for (const Case& c : {Case{1, 57.0}, Case{2, 96.0}, Case{4, 142.0}}) {
    const Mean m = mean_of("sim-dsv4", {}, {c.concurrency, 12});
    CHECK(m.decode_tok_s == Approx(c.tok_s).epsilon(0.03));
    CHECK(m.round_tok_s == Approx(c.tok_s).epsilon(0.035));  // prefill and stragglers included
    CHECK(m.raw == Approx(0.29).margin(0.02));
  }
}

TEST_CASE("the profile sim is the same engine ten times faster") {
  const Mean slow = mean_of("sim-dsv4", {}, {2, 6});
  const Mean swift = mean_of("sim", {}, {2, 6});
  CHECK(swift.decode_tok_s == Approx(10 * slow.decode_tok_s).epsilon(1e-9));
  CHECK(swift.raw == slow.raw);
}

TEST_CASE("prefill runs at 2,800 tokens a second") {
  for (const std::int64_t prompt : {2048, 60000}) {
    const auto configured = configure("sim-dsv4", {{"BOOT_SD", "0"}, {"STEP_SD", "0"}});
    const auto samples = simulate_rounds(configured->params, 1, 0, {1, 1, prompt, 1});
    CHECK(static_cast<double>(prompt) / samples[0].ttft_s == Approx(2800).epsilon(0.03));
  }
}

// Acceptance is drawn by request and step, so both arms see the same luck and the step alone differs.
TEST_CASE("knobs have the effects that the ledger measured, at equal acceptance") {
  struct Case {
    std::map<std::string, std::string> knobs;
    double effect_pct, margin;
  };
  const Mean base = mean_of("sim-dsv4", {}, {1, 12});
  const std::vector<Case> cases = {
      {{{"GATEFUSE", "1"}}, 3.5, 0.3},      {{{"ONESHOT", "1"}}, 7.5, 0.3},
      {{{"MARKOV_TOPK", "512"}}, 1.4, 0.3}, {{{"NULLKNOB", "1"}}, 0.0, 1e-9},
      {{{"SPEC_TOKENS", "3"}}, -7.2, 2.0},  {{{"SPEC_TOKENS", "7"}}, -9.8, 2.0},
      {{{"REFINE", "1"}}, -33.0, 2.5},      {{{"MAX_NUM_BATCHED", "8192"}}, 0.0, 1e-9},
  };
  for (const Case& c : cases) {
    INFO(c.knobs.begin()->first << "=" << c.knobs.begin()->second);
    const Mean cand = mean_of("sim-dsv4", c.knobs, {1, 12});
    CHECK(100 * (cand.decode_tok_s / base.decode_tok_s - 1) == Approx(c.effect_pct).margin(c.margin));
  }
}

TEST_CASE("IDXFREQ moves deep decode and leaves short decode alone") {
  const RoundPlan deep{1, 6, 128000, 256};
  const Mean base = mean_of("sim-dsv4", {}, deep, 6);
  const auto effect_pct = [&](const char* frequency) {
    return 100 * (mean_of("sim-dsv4", {{"IDXFREQ", frequency}}, deep, 6).decode_tok_s / base.decode_tok_s - 1);
  };
  CHECK(effect_pct("6") == Approx(9).margin(2));
  CHECK(effect_pct("8") == Approx(0).margin(3));
  CHECK(effect_pct("12") == Approx(-12).margin(3));
  const Mean shallow = mean_of("sim-dsv4", {}, {1, 6});
  CHECK(mean_of("sim-dsv4", {{"IDXFREQ", "6"}}, {1, 6}).decode_tok_s == Approx(shallow.decode_tok_s).epsilon(0.001));
}

TEST_CASE("acceptance moves by luck from request to request") {
  const auto configured = configure("sim-dsv4", {});
  double low = 1, high = 0;
  for (const RoundSample& s : simulate_rounds(configured->params, 1, 0, {1, 60})) {
    low = std::min(low, s.raw_acceptance);
    high = std::max(high, s.raw_acceptance);
  }
  CHECK(low < 0.25);
  CHECK(high > 0.33);
}

TEST_CASE("an unknown knob, profile or value is refused with what was probably meant") {
  CHECK(configure("sim", {{"GATEFUS", "1"}}).error().what.find("GATEFUSE") != std::string::npos);
  CHECK(configure("simm", {}).error().what.find("sim") != std::string::npos);
  for (const auto& [name, value] : std::map<std::string, std::string>{{"GATEFUSE", "2"},
                                                                      {"SPEC_TOKENS", "8"},
                                                                      {"KOREAN_CORRUPT", "16"},
                                                                      {"BOOT_SD", "nan"},
                                                                      {"MAX_NUM_SEQS", "0"}}) {
    INFO(name);
    const auto refused = configure("sim", {{name, value}});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Errc::kUsage);
    CHECK(refused.error().where.find(value) != std::string::npos);
  }
}

TEST_CASE("every knob's effective value is known, defaults included") {
  const auto configured = configure("sim", {{"KOREAN_CORRUPT", "1/4"}});
  REQUIRE(configured);
  CHECK(configured->values.size() == knobs().size());
  CHECK(configured->values.at("GATEFUSE") == "0");
  CHECK(configured->params.korean_corrupt_every == 4);
}

}  // namespace
}  // namespace bk::physics
