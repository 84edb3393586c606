#include <catch2/catch.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "bodies.h"
#include "formulas.h"
#include "run.h"
#include "support/run_in_process.h"
#include "support/sim_engine.h"

namespace bk::benchy {
namespace {

std::string fixture(const std::string& name) {
  return read_file(std::string(BK_SOURCE_DIR) + "/tests/fixtures/llama-benchy-0.4.0/" + name).value();
}

/// The body that we would send where llama-benchy sent `sent`.
Json ours_for(const Json& sent, const BodyOptions& options) {
  const std::string model = sent["model"].as_string().value();
  const Json::Array& messages = sent["messages"].items();
  const std::string last = messages.back()["content"].as_string().value();
  if (!sent["stream"].as_bool().value_or(false)) {
    if (sent["max_tokens"].as_int() == 100) return coherence_body(model);
    return warmup_body(model, messages.size() == 2);
  }
  if (last == "hello") return latency_body(model);
  const std::string system = messages.size() == 2 ? messages.front()["content"].as_string().value() : "";
  return bench_body(model, system, last, 32, options);
}

TEST_CASE("every captured request body is ours, member by member and in order") {
  BodyOptions full;
  full.no_cache = full.exact_tg = true;
  full.extra_body = Json::object().set("temperature", 0);
  const std::pair<const char*, BodyOptions> captures[] = {{"requests_default_llamacpp.jsonl", {}},
                                                          {"requests_nocache_exacttg_prefix_vllm.jsonl", full}};
  for (const auto& [name, options] : captures) {
    int bodies = 0;
    const std::string bytes = fixture(name);
    for (const std::string_view line : split_lines(bytes)) {
      const Json request = parse_json(line).value();
      if (request["body"].is_null()) continue;
      ++bodies;
      CHECK(ours_for(request["body"], options).dump() == request["body"].dump());
    }
    CHECK(bodies > 20);
  }
}

/// A stream whose usage says 32 tokens, its first at `ttfr_s` and its last 31 gaps of 1 / `tok_s` later.
Observed stream_of(double start_s, double ttfr_s, double tok_s) {
  Observed request;
  request.start_s = start_s;
  request.first_response_s = request.first_content_s = start_s + ttfr_s;
  const double first = start_s + ttfr_s;
  request.arrivals = {{first, -1}, {first + 11 / tok_s, -1}, {first + 31 / tok_s, -1}};
  request.expected_prompt_tokens = 98;
  request.usage_prompt_tokens = 128;  // more than 20 % apart: the expected count stands
  request.usage_completion_tokens = 32;
  return request;
}

TEST_CASE("figures of a captured row follow from its times") {
  const Json doc = parse_json(fixture("requests_default_llamacpp.result.json")).value();
  const double latency_s = doc["latency_ms"].as_double().value() / 1e3;
  const Json& one = doc["benchmarks"].items()[0];
  const auto value = [](const Json& row, const char* key, std::size_t i) {
    return row[key]["values"].items()[i].as_double().value();
  };
  for (const std::size_t run : {0u, 1u}) {
    const double tok_s = value(one, "tg_throughput", run);
    const BatchFigures f = figures_of({stream_of(5, value(one, "ttfr", run) / 1e3, tok_s)}, latency_s);
    CHECK(f.tg_total.value() == Approx(tok_s).epsilon(1e-9));
    CHECK(f.est_ppt_ms.at(0) == Approx(value(one, "est_ppt", run)).epsilon(1e-9));
    CHECK(f.pp_total.value() == Approx(value(one, "pp_throughput", run)).epsilon(1e-6));
    CHECK(f.peak_total.value() == Approx(value(one, "peak_throughput", run)).epsilon(1e-6));
  }
  const Json& two = doc["benchmarks"].items()[1];
  std::vector<Observed> batch;
  for (const std::size_t i : {0u, 1u}) {
    batch.push_back(stream_of(7, value(two, "ttfr", i) / 1e3, value(two, "tg_req_throughput", i)));
  }
  const BatchFigures f = figures_of(batch, latency_s);
  CHECK(f.peak_req == std::vector<double>{24, 24});
  CHECK(f.peak_total == 48.0);
  CHECK(f.tg_total.value() == Approx(value(two, "tg_throughput", 0)).epsilon(1e-3));
  CHECK(f.pp_total.value() == Approx(value(two, "pp_throughput", 0)).epsilon(1e-3));
  CHECK(f.pp_req.at(1) == Approx(value(two, "pp_req_throughput", 1)).epsilon(1e-6));
  CHECK(mean_of({1, 3}) == 2.0);
  CHECK(population_sd_of({1, 3}) == 1.0);
}

TEST_CASE("token ids are spread since the arrival before; a short stream has no true peak") {
  Observed request;
  request.arrivals = {{1.0, 2}, {1.4, 4}};
  const std::vector<double> expected = {1.0, 1.0, 1.1, 1.2, 1.3, 1.4};
  const std::vector<double> times = token_times(request);
  REQUIRE(times.size() == expected.size());
  for (std::size_t i = 0; i < times.size(); ++i) CHECK(times[i] == Approx(expected[i]));
  CHECK(compatible_peak(times).value() == Approx(15.0));
  CHECK_FALSE(true_peak(times));
  CHECK_FALSE(compatible_peak({1.0}));
  CHECK(figures_of({}, 0).tg_req.empty());
}

TEST_CASE("a scripted server's known times come back in the compatible columns and the correct ones") {
  const TempDir dir;
  const std::string script = (dir.path() / "s.jsonl").string();
  std::string lines;
  for (const char* request : {"2", "3"}) {  // after the two warm-ups: the discarded batch and the measured one
    lines += std::string(R"({"path": "/v1/chat/completions", "request": )") + request +
             R"(, "at_ms": 0, "stream": {"first_ms": 700, "every_ms": 20, "events": 16, "text": " Paris"}})" + "\n";
  }
  REQUIRE(write_file_atomic(script, lines));
  const test::SimEngine engine({"--script", script});
  const test::Ran ran = test::run_against(
      engine.url(), "benchy", run,
      {"--pp", "128", "--tg", "16", "--runs", "1", "--latency-mode", "none", "--skip-coherence", "--json"});
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
  const Json json = parse_json(ran.out).value();
  REQUIRE(json["benchmarks"].items().size() == 1);
  const Json& row = json["benchmarks"].items()[0];
  CHECK(row["ttfr"]["mean"].as_double().value() >= 699.0);
  CHECK(row["e2e_ttft"]["mean"].as_double().value() >= 699.0);
  CHECK(row["tg_throughput"]["values"].items().size() == 1);
  CHECK(row["correct"]["decode_tok_s"]["mean"].as_double().value() > 0);
  CHECK(row["correct"]["requests_failed"].as_int() == 0);
  CHECK(row["throughput_over_time"].is_null());
}

TEST_CASE("a held-back answer has no correct decode rate, and its row says what the compatible one is worth") {
  const TempDir dir;
  const std::string script = (dir.path() / "s.jsonl").string();
  std::string lines;
  for (const char* request : {"2", "3"}) {
    lines += std::string(R"({"request": )") + request +
             R"(, "stream": {"first_ms": 50, "every_ms": 2, "events": 2, "tokens_per_event": [1, 4000]}})" + "\n";
  }
  REQUIRE(write_file_atomic(script, lines));
  const test::SimEngine engine({"--script", script});
  const test::Ran ran = test::run_against(
      engine.url(), "benchy", run,
      {"--pp", "128", "--tg", "16", "--runs", "1", "--latency-mode", "none", "--skip-coherence", "--json"});
  CAPTURE(ran.err, ran.out);
  CHECK(ran.code == 0);
  const Json correct = parse_json(ran.out).value()["benchmarks"].items()[0]["correct"];
  CHECK(correct["decode_tok_s"].is_null());
  CHECK(correct["note"].as_string().value().find("1 answer came at once") != std::string::npos);
}

TEST_CASE("a tokenizer.json sizes the prompts in the server's stead, to the token") {
  const test::SimEngine engine;
  const TempDir dir;
  const std::string folder = dir.path();
  const auto wrote = run_captured(
      {{BK_BIN_DIR "/sim-engine", "--write-tokenizer", folder + "/tokenizer.json"}, {}, {}, {}}, 60 * kSecond);
  REQUIRE(wrote);
  REQUIRE(wrote->exit.ok());
  const test::Ran ran = test::run_against(engine.url(), "benchy", run,
                                          {"--pp", "300", "--tg", "8", "--runs", "3", "--exact-tg", "--skip-coherence",
                                           "--latency-mode", "none", "--tokenizer", folder, "--json"});
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  const Json row = parse_json(ran.out).value()["benchmarks"].items()[0];
  CHECK(row["correct"]["sized_by"].as_string() == "tokenizer.json");
  const auto& rates = row["pp_req_throughput"]["values"].items();
  const auto& times = row["est_ppt"]["values"].items();
  REQUIRE(rates.size() == 3);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    CHECK(rates[i].as_double().value() * times[i].as_double().value() / 1000 == Approx(300));  // as the server counted
  }
  REQUIRE(write_file_atomic(folder + "/unigram.json", R"({"model":{"type":"Unigram","vocab":[]}})"));
  const test::Ran refused =
      test::run_against(engine.url(), "benchy", run, {"--tokenizer", folder + "/unigram.json", "--json"});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Catch::Contains("the model \"Unigram\" is not supported"));
}

TEST_CASE("a second run on the same server is as cold as the first, unless a seed asks for the same prompts") {
  const test::SimEngine engine;
  const auto cached = [&](cli::Args seed) {
    cli::Args args = {"--pp",           "512",  "--tg",  "4", "--runs", "1", "--skip-coherence",
                      "--latency-mode", "none", "--json"};
    args.insert(args.end(), seed.begin(), seed.end());
    const test::Ran ran = test::run_against(engine.url(), "benchy", run, args);
    INFO(ran.err);
    REQUIRE(ran.code == 0);
    const Json correct = parse_json(ran.out).value()["benchmarks"].items()[0]["correct"];
    return correct["note"].as_string().value_or("").find("from a cache") != std::string::npos;
  };
  CHECK_FALSE(cached({}));
  CHECK_FALSE(cached({}));
  CHECK_FALSE(cached({"--seed", "5"}));
  CHECK(cached({"--seed", "5"}));
}

TEST_CASE("prefix-caching rows, tables, and failures with their codes") {
  const test::SimEngine engine;
  const cli::Args grid = {"--pp",
                          "128",
                          "--tg",
                          "8",
                          "--depth",
                          "0,256",
                          "--concurrency",
                          "1,2",
                          "--runs",
                          "1",
                          "--skip-coherence",
                          "--exact-tg",
                          "--no-cache",
                          "--enable-prefix-caching"};
  const test::Ran ran = test::run_against(engine.url(), "benchy", run, grid);
  CHECK(ran.code == 0);
  for (const char* name : {"pp128 (c1)", "tg8 (c2)", "ctx_pp @ d256 (c1)", "ctx_tg @ d256 (c2)", "pp128 @ d256 (c2)"}) {
    CHECK_THAT(ran.out, Catch::Contains(name));
  }
  CHECK_THAT(ran.out, Catch::Contains("prompts sized by tokenize"));
  cli::Args as_csv = grid;
  as_csv.insert(as_csv.end(), {"--format", "csv"});
  // llama-benchy 0.4.0's header, and ours behind it.
  CHECK_THAT(test::run_against(engine.url(), "benchy", run, as_csv).out,
             Catch::StartsWith("model,test_name,t_s_mean,t_s_std,t_s_req_mean,t_s_req_std,peak_ts_mean,peak_ts_std,"
                               "peak_ts_req_mean,peak_ts_req_std,ttfr_mean,ttfr_std,est_ppt_mean,est_ppt_std,"
                               "e2e_ttft_mean,e2e_ttft_std,"));
  const TempDir dir;
  const std::string script = dir.path() / "rome.jsonl";
  // The third request, after both warm-ups, is the question for the capital of France.
  REQUIRE(write_file_atomic(script, R"({"path": "/v1/chat/completions", "request": 2, "at_ms": 0, )"
                                    R"("headers": {"Content-Type": "application/json"}, )"
                                    R"("data": "{\"choices\": [{\"message\": {\"content\": \"Rome\"}}]}"})"
                                    "\n"));
  const test::SimEngine ignorant({"--script", script});
  const test::Ran incoherent = test::run_against(ignorant.url(), "benchy", run, {"--pp", "128"});
  CHECK(incoherent.code == 1);
  CHECK_THAT(incoherent.err, Catch::Contains("--skip-coherence"));
  CHECK(test::run_against("http://127.0.0.1:1", "benchy", run, {}).code == 3);
  CHECK(test::run_against(engine.url(), "benchy", run, {"--concurrency", "0"}).code == 2);
  const test::SimEngine broken({"--fault", "error-in-200=2"});
  const test::Ran failed =
      test::run_against(broken.url(), "benchy", run, {"--pp", "128", "--tg", "8", "--runs", "1", "--skip-coherence"});
  CHECK(failed.code == 3);
  CHECK_THAT(failed.err, Catch::Contains("the request failed: "));
}

}  // namespace
}  // namespace bk::benchy
