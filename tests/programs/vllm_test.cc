// The real vLLM of `./dev engines --vllm`, booted once: what the programs say is what it counted.
#include <catch2/catch.hpp>
#include <numeric>

#include "base/json.h"
#include "support/real_engine.h"
#include "support/sim_engine.h"

using namespace bk;
using test::counted;
using test::counters_of;
using test::samples_in;
using test::whole_of;

namespace {

/// Programs against one engine, each with a database of its own.
struct Bench {
  const TempDir& dir;
  std::string url;
  std::string db;

  Captured run(const std::string& program, const std::vector<std::string>& flags) {
    db = (dir.path() / (program + ".db")).string();
    std::vector<std::string> argv = {program, "--base-url", url, "--db", db, "--json"};
    argv.insert(argv.end(), flags.begin(), flags.end());
    return test::run_program(argv, {}, dir.path().string(), 600 * kSecond);
  }
};

Json json_of(const Captured& run) {
  INFO(run.out << run.err);
  REQUIRE(run.exit.code == 0);
  auto json = parse_json(run.out);
  REQUIRE(json);
  return std::move(*json);
}

std::int64_t tokens_of_events(const store::RequestRow& request) {
  return std::accumulate(request.events.begin(), request.events.end(), std::int64_t{0},
                         [](std::int64_t sum, const store::EventRow& event) { return sum + event.tokens; });
}

/// What the requests of a database and the acceptance of its samples sum up to.
struct Sums {
  std::int64_t prompt = 0, generated = 0, drafted = 0, accepted = 0;
};

Sums recorded(const std::string& db) {
  Sums sums;
  for (const store::SampleRow& sample : samples_in(db)) {
    for (const store::RequestRow& request : sample.requests) {
      CHECK(request.tokens_source == "usage");
      CHECK(request.decode_basis == "exact");
      CHECK(request.completion_tokens == request.usage_completion_tokens);
      CHECK(tokens_of_events(request) == request.completion_tokens);
      sums.prompt += request.usage_prompt_tokens.value_or(-1);
      sums.generated += request.completion_tokens.value_or(-1);
    }
    sums.drafted += sample.accept_draft_tokens ? whole_of(sample.accept_draft_tokens) : 0;
    sums.accepted += sample.accept_accepted ? whole_of(sample.accept_accepted) : 0;
  }
  return sums;
}

}  // namespace

TEST_CASE("on the real vLLM tokens and acceptance equal its usage and counters to the last token", "[.vllm]") {
  if (!test::is_installed("models/smollm2-135m/config.json", "./dev engines --vllm")) return;
  const TempDir dir;
  const auto engine = test::boot_profile("vllm", dir, {{"SPEC", "ngram"}, {"SPEC_TOKENS", "4"}});
  CHECK(engine->facts().endpoint.model == "model");
  CHECK(engine->facts().proofs.size() == 9);
  for (const boot::Proof& proof : engine->facts().proofs) {
    INFO(proof.knob << ": " << proof.reason << " " << proof.evidence);
    CHECK(proof.ok);
  }
  Bench bench{dir, engine->facts().endpoint.base_url, {}};

  const engine::Counters before = counters_of(*engine);
  json_of(bench.run("bench-dec",
                    {"-C", "1,2", "--reps", "1", "--tokens", "32", "--content", "structured", "--temperature", "0"}));
  const engine::Counters after = counters_of(*engine);
  const Sums sums = recorded(bench.db);
  CHECK(sums.generated > 0);
  CHECK(counted(before.generation_tokens, after.generation_tokens) == sums.generated);
  CHECK(counted(before.prompt_tokens, after.prompt_tokens) == sums.prompt);
  CHECK(counted(before.draft_tokens, after.draft_tokens) == sums.drafted);
  CHECK(counted(before.accepted_tokens, after.accepted_tokens) == sums.accepted);
  CHECK(sums.drafted > 0);

  const Json shown =
      json_of(bench.run("bench-probe", {"-n", "1", "--warmup", "0", "--prompt-tokens", "256", "--tokens", "32"}));
  const engine::Counters probed = counters_of(*engine);
  CHECK(shown["prompt_tokens"].as_int() == 256);
  CHECK(shown["completion_tokens"].as_int() == counted(after.generation_tokens, probed.generation_tokens));
  CHECK(shown["acceptance"]["draft_tokens"].as_double() == counted(after.draft_tokens, probed.draft_tokens));
  CHECK(shown["acceptance"]["accepted"].as_double() == counted(after.accepted_tokens, probed.accepted_tokens));

  json_of(bench.run("bench-ctx", {"--contexts", "512", "--reps", "1", "--warmup", "0", "--tokens", "8"}));
  CHECK(recorded(bench.db).prompt == 512);
  CHECK(recorded(bench.db).generated == 8);

  const Json row = json_of(bench.run("benchy", {"--pp", "128", "--tg", "8", "--runs", "1", "--exact-tg",
                                                "--skip-coherence", "--latency-mode", "none"}))["benchmarks"]
                       .items()
                       .at(0);
  CHECK(row["correct"]["requests_failed"].as_int() == 0);
  const Json& correct = row["correct"];
  CHECK(correct["prefill_tok_s"]["mean"].as_double().value() * correct["ttft_ms"]["mean"].as_double().value() / 1000 ==
        Approx(128));

  const Captured quality = bench.run("check-quality", {"--contexts", "512"});
  INFO(quality.out << quality.err);
  CHECK(quality.exit.code <= 1);  // whether so small a model finds every fact is its own affair
  const Json found = parse_json(quality.out).value();
  CHECK(found["verdict"].as_string() == (quality.exit.code == 0 ? "pass" : "fail"));
  CHECK(found["rows"].items().at(0)["prompt_tokens"].as_int() == 512);

  const Captured wrong = bench.run("bench-dec", {"--model", "nope"});
  CHECK(wrong.exit.code == 2);
  CHECK_THAT(wrong.err, Catch::Contains("model 'nope' is not served (served: model)"));
  const Captured deep = bench.run("bench-ctx", {"--contexts", "8K", "--quiet"});
  CHECK(deep.exit.code == 2);
  CHECK_THAT(deep.err, Catch::Contains("the server holds 4096 tokens"));
}
