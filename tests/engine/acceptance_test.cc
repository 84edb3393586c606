#include "engine/acceptance.h"

#include <catch2/catch.hpp>

#include "fixture.h"

namespace bk::engine {
namespace {

using testing::counters_of;
using testing::fixture;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_CASE("acceptance over two engines sums deltas by exact name (case 18)") {
  const auto before = counters_of(fixture("18-metrics-dp-acceptance/before.txt"));
  const auto after = counters_of(fixture("18-metrics-dp-acceptance/after.txt"));
  CHECK(after.dialect == "vllm");
  CHECK(after.drafts == 440);
  CHECK(after.running == 0);
  const auto delta = acceptance_between(before, after);
  REQUIRE(delta.value);
  CHECK(delta.reason.empty());
  CHECK(delta.value->drafts == 300);
  CHECK(delta.value->draft_tokens == 900);
  CHECK(delta.value->accepted == 480);
  CHECK(delta.value->raw == Approx(0.533333).epsilon(1e-6));
  CHECK(delta.value->tokens_per_step == Approx(2.6));
  CHECK(delta.value->k_eff == Approx(3));
  CHECK(delta.value->legacy == Approx(2 * 480.0 / (300 + 900)));
  REQUIRE(delta.value->per_position.size() == 3);
  CHECK(delta.value->per_position[0] == Approx(0.8));
  CHECK(delta.value->per_position[1] == Approx(0.5));
  CHECK(delta.value->per_position[2] == Approx(0.3));
}

TEST_CASE("SGLang's acceptance lengths stand by data-parallel rank, tensor-parallel copies once (case 18)") {
  const auto counters = counters_of(fixture("18-metrics-dp-acceptance/sglang.txt"));
  CHECK(counters.dialect == "sglang");
  CHECK(counters.accept_length_by_rank == std::map<std::string, double>{{"0", 2.4}, {"1", 2.8}});
  CHECK_FALSE(counters.drafts);
  CHECK(acceptance_between(counters, counters).reason == "counter_missing");
}

TEST_CASE("copies of a counter for tensor- and pipeline-parallel ranks count once") {
  const auto counters = counters_of(
      "sglang:generation_tokens_total{dp_rank=\"0\",tp_rank=\"0\",pp_rank=\"0\"} 10\n"
      "sglang:generation_tokens_total{dp_rank=\"0\",tp_rank=\"1\",pp_rank=\"0\"} 10\n"
      "sglang:generation_tokens_total{dp_rank=\"1\",tp_rank=\"0\",pp_rank=\"0\"} 7\n"
      "sglang:num_running_reqs{tp_rank=\"0\"} 3\nsglang:num_running_reqs{tp_rank=\"1\"} 3\n");
  CHECK(counters.generation_tokens == 17);
  CHECK(counters.running == 3);
}

TEST_CASE("llama.cpp's rates come from its counters, whatever its gauges say (case 21)") {
  const auto before = counters_of(fixture("21-llamacpp-metrics/before.txt"));
  for (const char* file : {"after.txt", "after-lifetime-gauge.txt", "json-escaped.txt"}) {
    INFO(file);
    const auto after = counters_of(fixture(std::string("21-llamacpp-metrics/") + file));
    CHECK(after.dialect == "llamacpp");
    const auto rates = rates_between(before, after);
    CHECK(rates.decode_tok_s.value == Approx(128));
    CHECK(rates.prompt_tok_s.value == Approx(4000));
    CHECK(acceptance_between(before, after).reason == "counter_missing");
  }
}

TEST_CASE("a gauge that is NaN is absent, not zero (case 21)") {
  const auto startup = counters_of(fixture("21-llamacpp-metrics/startup.txt"));
  CHECK_FALSE(startup.busy_slots);
  CHECK(startup.generation_tokens == 0);
  CHECK(rates_between(startup, startup).decode_tok_s.reason == "zero_window");
  CHECK(counters_of(fixture("21-llamacpp-metrics/before.txt")).busy_slots == 1);
}

struct Capture {
  const char* before;
  const char* after;
  double drafts, draft_tokens, accepted;
  std::vector<double> per_position;  // accepted tokens
};

TEST_CASE("acceptance equals the counters of real servers to the last token") {
  const std::vector<Capture> rows = {
      {"llamacpp-server-spec/ngram-k5.metrics_before.txt",
       "llamacpp-server-spec/ngram-k5.metrics_after.txt",
       28,
       121,
       82,
       {22, 22, 19, 19, 0}},
      {"llamacpp-server-spec/selfdraft-k3.metrics_before.txt",
       "llamacpp-server-spec/selfdraft-k3.metrics_after.txt",
       96,
       284,
       284,
       {96, 96, 92}},
      {"llamacpp-server-spec/synth-k3-0.8-0.5-0.2.metrics_before.txt",
       "llamacpp-server-spec/synth-k3-0.8-0.5-0.2.metrics_after.txt",
       161,
       478,
       217,
       {115, 66, 36}},
      {"llamacpp-server-spec/synth-k4-0.9-0.7-0.5-0.3.metrics_before.txt",
       "llamacpp-server-spec/synth-k4-0.9-0.7-0.5-0.3.metrics_after.txt",
       109,
       431,
       269,
       {100, 86, 55, 28}},
      {"vllm-0.26.0/metrics_start.body", "vllm-0.26.0/metrics_end.body", 42, 108, 77, {35, 16, 16, 10}},
      {"vllm-0.32.0-cpu-smollm2-ngram/metrics_before.txt",
       "vllm-0.32.0-cpu-smollm2-ngram/metrics_after.txt",
       179,
       879,
       330,
       {76, 72, 64, 61, 57}},
  };
  for (const Capture& row : rows) {
    INFO(row.after);
    const auto delta = acceptance_between(counters_of(fixture(row.before)), counters_of(fixture(row.after)));
    REQUIRE(delta.value);
    CHECK(delta.value->drafts == row.drafts);
    CHECK(delta.value->draft_tokens == row.draft_tokens);
    CHECK(delta.value->accepted == row.accepted);
    REQUIRE(delta.value->per_position.size() == row.per_position.size());
    double sum = 0;
    for (std::size_t i = 0; i < row.per_position.size(); ++i) {
      CHECK(delta.value->per_position[i] == Approx(row.per_position[i] / row.drafts));
      sum += delta.value->per_position[i];
    }
    CHECK(delta.value->tokens_per_step == Approx(1 + sum));  // identity: length = 1 + sum of positions
  }
}

TEST_CASE("generation tokens and steps of a real vLLM are read") {
  const auto after = counters_of(fixture("vllm-0.32.0-cpu-smollm2-ngram/metrics_after.txt"));
  CHECK(after.generation_tokens == 648);
  CHECK(after.prompt_tokens == 237);
  CHECK(after.engine_steps == 324);
  CHECK(after.process_start_s);
  CHECK(after.created.count("vllm:spec_decode_num_drafts_created|engine=0|model_name=smol") == 1);
}

TEST_CASE("the older ledger's convention is 2k/(k+1) times raw") {
  // Counters of the ledger's own example: accepted 150, drafted 250 in 50 drafts -> legacy 100 %, raw 60 %.
  Counters zero;
  zero.drafts = zero.draft_tokens = zero.accepted_tokens = 0;
  Counters after = zero;
  after.drafts = 50;
  after.draft_tokens = 250;
  after.accepted_tokens = 150;
  const auto delta = acceptance_between(zero, after);
  REQUIRE(delta.value);
  CHECK(delta.value->raw == Approx(0.6));
  CHECK(delta.value->legacy == Approx(1.0));
  CHECK(delta.value->per_position.empty());
}

TEST_CASE("a page pair that cannot be compared gives nothing and the reason") {
  const std::string before_text = fixture("18-metrics-dp-acceptance/before.txt");
  const std::string after_text = fixture("18-metrics-dp-acceptance/after.txt");
  const std::string engine1 = "drafts_total{engine=\"1\",model_name=\"m\"} ";
  const auto before = counters_of(before_text);
  const auto after = counters_of(after_text);

  CHECK(acceptance_between({}, after).reason == "metrics_unavailable");
  CHECK(acceptance_between(before, {}).reason == "metrics_unavailable");
  CHECK(acceptance_between(before, before).reason == "no_drafts");
  Counters impossible = before;
  impossible.drafts = *before.drafts + 10;
  impossible.draft_tokens = *before.draft_tokens + 10;
  impossible.accepted_tokens = *before.accepted_tokens + 11;
  CHECK(acceptance_between(before, impossible).reason == "counters_disagree");
  CHECK(acceptance_between(after, before).reason == "counter_reset");

  // Engine 1 restarts (140 -> 3) while the sum still grows (140 -> 303).
  const auto reset = acceptance_between(before, counters_of(replaced(after_text, engine1 + "140", engine1 + "3")));
  CHECK_FALSE(reset.value);
  CHECK(reset.reason == "counter_reset");
  CHECK(reset.resets == std::vector<std::string>{"vllm:spec_decode_num_drafts_total|engine=1|model_name=m"});

  const std::string stamp = "drafts_created{engine=\"0\",model_name=\"m\"} ";
  const auto anew = acceptance_between(before, counters_of(replaced(after_text, stamp + "1.7", stamp + "1.8")));
  CHECK(anew.reason == "engine_restarted");
  CHECK(anew.resets.size() == 1);

  const auto started = [](const std::string& page, const char* at) {
    return counters_of(page + "process_start_time_seconds " + at + "\n");
  };
  CHECK(acceptance_between(started(before_text, "100"), started(after_text, "100")).value);
  CHECK(acceptance_between(started(before_text, "100"), started(after_text, "250")).reason == "engine_restarted");

  const std::string gone = "vllm:spec_decode_num_drafts_total{engine=\"1\",model_name=\"m\"} 140.0\n";
  CHECK(acceptance_between(before, counters_of(replaced(after_text, gone, ""))).reason == "counter_missing");
  CHECK(acceptance_between(counters_of("vllm:x 1\n"), after).reason == "counter_missing");
}

TEST_CASE("per-position series that appear with the first draft count from zero") {
  const auto page = [&](int drafts, int tokens, int accepted, const std::string& rest) {
    return counters_of(
        fmt::format("llamacpp:spec_decode_num_drafts_total {}\nllamacpp:spec_decode_num_draft_tokens_total "
                    "{}\nllamacpp:spec_decode_num_accepted_tokens_total {}\n{}",
                    drafts, tokens, accepted, rest));
  };
  const std::string name = "llamacpp:spec_decode_num_accepted_tokens_per_pos_total";
  const auto delta = acceptance_between(
      page(0, 0, 0, ""), page(10, 20, 12, name + "{position=\"0\"} 8\n" + name + "{position=\"1\"} 4\n"));
  REQUIRE(delta.value);
  CHECK(delta.value->per_position == std::vector<double>{0.8, 0.4});
}

}  // namespace
}  // namespace bk::engine
