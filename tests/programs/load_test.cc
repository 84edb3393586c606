// The load programs against the engine's own record of the same run. Times are compared with generous bounds: the
// machine is shared, and what is checked is that the right interval was measured. Counts are compared exactly.
#include <catch2/catch.hpp>

#include "truth.h"

using namespace bk;
using test::json_of;
using test::real;
using test::run_program;
using test::SimEngine;
using test::truth_of;
using test::TruthRequest;
using test::whole;

namespace {

constexpr double kSlackMs = 150;

std::vector<std::string> argv_of(std::vector<std::string> head, const SimEngine& engine,
                                 const std::vector<std::string>& rest) {
  head.insert(head.end(), {"--base-url", engine.url(), "-q"});
  head.insert(head.end(), rest.begin(), rest.end());
  return head;
}

void check_times(const Json& row, const TruthRequest& truth) {
  CHECK(real(row["ttft_ms"]) >= truth.ttft_ms() - 1);
  CHECK(real(row["ttft_ms"]) <= truth.ttft_ms() + kSlackMs);
}

}  // namespace

TEST_CASE("bench-ctx agrees with the engine, context by context") {
  SimEngine engine;
  TempDir dir;
  const Captured run = run_program(
      argv_of({"bench-ctx"}, engine,
              {"--contexts", "2K,3000", "--reps", "2", "--warmup", "1", "--tokens", "48", "--seed", "21", "--json"}),
      {}, dir.path().string());
  REQUIRE(run.exit.code == 0);
  const Json json = json_of(run);
  const auto& rows = json["rows"].items();
  const auto truth = truth_of(engine);
  REQUIRE(rows.size() == 4);
  REQUIRE(truth.size() == 5);  // one warm-up before them
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const TruthRequest& t = truth[i + 1];
    CHECK(whole(rows[i]["prompt_tokens"]) == (i < 2 ? 2048 : 3000));
    CHECK(whole(rows[i]["prompt_tokens"]) == t.prompt_tokens);
    CHECK(whole(rows[i]["cached_tokens"]) == 0);
    CHECK(t.cached_tokens == 0);
    CHECK(whole(rows[i]["completion_tokens"]) == t.completion_tokens);
    CHECK(rows[i]["warm"].as_bool() == false);
    check_times(rows[i], t);
    CHECK(real(rows[i]["prefill_tok_s"]) ==
          Approx(1000.0 * static_cast<double>(t.prompt_tokens) / real(rows[i]["ttft_ms"])));
    CHECK(real(rows[i]["decode_tok_s"]) == Approx(t.decode_tok_s()).epsilon(0.5));
  }
  CHECK(rows[0]["context"].as_string() == "2K");
  CHECK(rows[2]["context"].as_string() == "3000");
  CHECK(whole(json["summary"].items()[0]["n"]) == 2);
  CHECK(json["machine"]["before"].is_object());
}

TEST_CASE("bench-ctx refuses figures of prompts that the cache answered") {
  SimEngine engine;
  TempDir dir;
  const auto argv =
      argv_of({"bench-ctx"}, engine,
              {"--contexts", "2K", "--reps", "1", "--warmup", "0", "--tokens", "8", "--seed", "4", "--json"});
  REQUIRE(run_program(argv, {}, dir.path().string()).exit.code == 0);
  const Captured again = run_program(argv, {}, dir.path().string());
  CHECK(again.exit.code == 5);
  CHECK(again.err.find("prefix cache") != std::string::npos);
  const Json json = json_of(again);
  const Json& row = json["rows"].items().front();
  CHECK(whole(row["cached_tokens"]) == truth_of(engine).back().cached_tokens);
  CHECK(whole(row["cached_tokens"]) > 1000);
  CHECK(row["warm"].as_bool() == true);
  CHECK(row["note"].as_string().value_or("").find("warm_prefix_cache") != std::string::npos);
  for (const char* figure : {"ttft_ms", "prefill_tok_s", "decode_tok_s", "tpot_ms"}) CHECK(row[figure].is_null());
  CHECK(whole(json["summary"].items()[0]["n"]) == 0);
  CHECK(whole(json["summary"].items()[0]["refused"]) == 1);
}

TEST_CASE("bench-conc counts every request of a closed loop") {
  SimEngine engine;
  TempDir dir;
  const Captured run =
      run_program(argv_of({"bench-conc"}, engine,
                          {"-C", "1,3", "-n", "9", "--tokens", "24", "--ramp", "0.05", "--warmup", "0", "--json"}),
                  {}, dir.path().string());
  REQUIRE(run.exit.code == 0);
  const Json json = json_of(run);
  const auto& rows = json["rows"].items();
  const auto truth = truth_of(engine);
  REQUIRE(rows.size() == 2);
  REQUIRE(truth.size() == 18);
  CHECK(json["correlated"].as_bool() == true);
  for (std::size_t cell = 0; cell < 2; ++cell) {
    const Json& row = rows[cell];
    CHECK(whole(row["requests"]) == 9);
    CHECK(whole(row["failed"]) == 0);
    CHECK(real(row["good_share"]) == 1);
    CHECK(row["correlated"].as_bool() == true);
    CHECK(row["ttft_from_schedule_ms_p50_thin_tail"].as_bool() == true);  // 9 / 2 < 5
    Nanos first = truth[cell * 9].received, last = 0;
    double tokens = 0;
    for (std::size_t i = cell * 9; i < cell * 9 + 9; ++i) {
      tokens += static_cast<double>(truth[i].completion_tokens);
      last = std::max(last, truth[i].end);
    }
    CHECK(tokens == 9 * 24);
    CHECK(real(row["aggregate_tok_s"]) <= 1.02 * tokens / to_s(last - first));
    CHECK(real(row["aggregate_tok_s"]) >= 0.5 * tokens / to_s(last - first));
    CHECK(real(row["requests_per_s"]) == Approx(real(row["aggregate_tok_s"]) / 24));
  }
  // Three streams at most: a request was never received while three others were still being answered.
  for (std::size_t i = 9; i < 18; ++i) {
    int under_way = 0;
    for (std::size_t j = 9; j < 18; ++j) {
      if (truth[j].received < truth[i].received && truth[j].end > truth[i].received) ++under_way;
    }
    CHECK(under_way <= 2);
  }
}

TEST_CASE("bench-conc's open loop waits for nobody and counts from the scheduled start") {
  SimEngine engine;
  TempDir dir;
  const Captured run = run_program(argv_of({"bench-conc"}, engine,
                                           {"--rate", "50", "--arrivals", "constant", "-n", "10", "--tokens", "40",
                                            "--warmup", "0", "--ttft-limit", "0.001", "--json"}),
                                   {}, dir.path().string());
  REQUIRE(run.exit.code == 0);
  const Json json = json_of(run);
  const Json& row = json["rows"].items().front();
  CHECK(json["rows"].items().size() == 1);
  CHECK(json["correlated"].as_bool() == false);
  CHECK(json["plan"]["loop"].as_string() == "open");
  CHECK(row["cell"].as_string() == "rate=50");
  CHECK(whole(row["requests"]) == 10);
  CHECK(real(row["goodput_per_s"]) == 0);  // nobody answers within a microsecond
  CHECK(real(row["good_share"]) == 0);
  CHECK(real(row["queued_ms_max"]) >= 0);
  CHECK(real(row["latency_from_schedule_ms_p50"]) >= real(row["ttft_from_schedule_ms_p50"]));
  const auto truth = truth_of(engine);
  REQUIRE(truth.size() == 10);
  // Nine intervals of 20 ms lie between the first and the last scheduled start; none may be sent early.
  CHECK(to_ms(truth.back().received - truth.front().received) >= 180 - kSlackMs);
  CHECK(whole(row["concurrency"]) >= 2);  // 40 tokens take longer than 20 ms
}

TEST_CASE("bench-tp4 says which of its two numbers may be compared") {
  SimEngine engine;
  TempDir dir;
  const Captured run = run_program(
      argv_of({"bench-tp4"}, engine, {"--seed", "21", "--prefill-tokens", "4096", "--tokens", "40", "--json"}), {},
      dir.path().string());
  REQUIRE(run.exit.code == 0);
  const Json json = json_of(run);
  const auto& rows = json["rows"].items();
  const auto truth = truth_of(engine);
  REQUIRE(rows.size() == 2);
  REQUIRE(truth.size() == 2);
  CHECK(rows[0]["part"].as_string() == "decode");
  CHECK(rows[0]["comparable"].as_bool() == false);
  CHECK(rows[0]["note"].as_string().value_or("").find("not for comparison") == 0);
  CHECK(whole(rows[0]["completion_tokens"]) == truth[0].completion_tokens);
  CHECK(rows[0]["prefill_tok_s"].is_null());
  CHECK(rows[1]["part"].as_string() == "prefill");
  CHECK(rows[1]["comparable"].as_bool() == true);
  CHECK(whole(rows[1]["prompt_tokens"]) == 4096);
  CHECK(truth[1].prompt_tokens == 4096);
  CHECK(whole(rows[1]["cached_tokens"]) == 0);
  check_times(rows[1], truth[1]);
}

TEST_CASE("streamgap finds the stretch in which the prefill landed") {
  SimEngine engine;
  TempDir dir;
  const auto picture = dir.path() / "gap.svg";
  const Captured run = run_program(argv_of({"streamgap"}, engine,
                                           {"--seed", "21", "--tokens", "900", "--ingest-tokens", "8192", "--after",
                                            "0.4", "--svg", picture.string(), "--json"}),
                                   {}, dir.path().string());
  REQUIRE(run.exit.code == 0);
  const Json json = json_of(run);
  const auto& rows = json["rows"].items();
  REQUIRE(rows.size() == 3);
  CHECK(whole(json["completion_tokens"]) == 900);
  CHECK(whole(json["ingest_prompt_tokens"]) == 8192);
  CHECK(whole(json["ingest_cached_tokens"]) == 0);
  const auto truth = truth_of(engine);
  REQUIRE(truth.size() == 2);
  // All tokens but those of the first event, which opens the first stretch.
  CHECK(whole(rows[0]["tokens"]) + whole(rows[1]["tokens"]) + whole(rows[2]["tokens"]) ==
        truth[0].completion_tokens - truth[0].events.front().second);
  CHECK(real(rows[1]["seconds"]) >= to_s(truth[1].end - truth[1].received) - 0.001);
  // 8,192 prompt tokens hold two full steps of the engine, each many times as long as a decode step.
  CHECK(real(rows[1]["tok_s"]) < real(rows[0]["tok_s"]) / 2);
  CHECK(json["longest_gaps"].items()[0]["phase"].as_string() == "during");
  CHECK(read_file(picture).value().find("<svg xmlns=") == 0);
}

TEST_CASE("streamgap without an overlap has no result") {
  SimEngine engine;
  TempDir dir;
  const Captured run =
      run_program(argv_of({"streamgap"}, engine, {"--tokens", "20", "--ingest-tokens", "512", "--after", "1.5"}), {},
                  dir.path().string());
  CHECK(run.exit.code == 4);
  CHECK(run.out.empty());
  CHECK(std::string(split_lines(run.err).back()).find("the stream had ended before the ingest began") !=
        std::string::npos);
}

/// A script line: an answer of that path in gzip.
std::string compressed(const std::string& path) {
  return R"({"path": ")" + path + R"(", "at_ms": 0, "hex": "1f8b0800", "headers": {"Content-Encoding": "gzip"}})" +
         "\n";
}

TEST_CASE("every load program refuses in one line and shows its plan without a server") {
  TempDir dir;
  SimEngine engine;
  const std::string script = dir.path() / "models.jsonl";
  REQUIRE(write_file_atomic(script, compressed("/v1/models")));
  const SimEngine zipped_page({"--script", script});
  struct Case {
    std::vector<std::string> argv;
    int code;
    std::string says;
  };
  const std::string url = engine.url();
  const Case cases[] = {
      {{"bench-ctx", "--contexts", "2K,x"}, 2, "--contexts x"},
      {{"bench-ctx", "--base-url", url, "--contexts", "500000"}, 2, "the server holds 430000 tokens"},
      {{"bench-ctx", "--base-url", url, "--contexts", "4"}, 2, "cannot have 4 tokens"},
      {{"bench-conc", "--rate", "0"}, 2, "--rate 0"},
      {{"bench-conc", "--rate", "5", "-C", "4"}, 2, "-C is of the closed loop"},
      {{"bench-conc", "--rate", "5", "--ramp", "1"}, 2, "--ramp is of the closed loop"},
      {{"bench-conc", "-C", "4", "--arrivals", "constant"}, 2, "--arrivals is of the open loop"},
      {{"bench-conc", "--base-url", zipped_page.url()}, 3, "Content-Encoding: gzip"},
      {{"bench-conc", "--arrivals", "poison"}, 2, "--arrivals"},
      {{"bench-conc", "--base-url", "http://127.0.0.1:1"}, 3, "127.0.0.1:1"},
      {{"bench-tp4", "--base-url", url, "--prefill-tokens", "500000"}, 2, "not a prefill of 500000"},
      {{"bench-tp4", "--base-url", url, "--model", "deepseek-v4-flush"}, 2, "deepseek-v4-flash"},
      {{"streamgap", "--base-url", url, "--svg", "/no/such/folder/x.svg"}, 3, "/no/such/folder/x.svg"},
      {{"streamgap", "--base-url", url, "--db", "/no/such/folder/r.db"}, 3, "/no/such/folder"},
  };
  for (const Case& c : cases) {
    auto argv = c.argv;
    argv.emplace_back("-q");
    const Captured run = run_program(argv, {}, dir.path().string());
    INFO(c.argv.front() << " " << c.argv.back() << "\n" << run.err);
    CHECK(run.exit.code == c.code);
    CHECK(run.out.empty());
    const auto lines = split_lines(run.err);
    REQUIRE_FALSE(lines.empty());
    CHECK(std::string(lines.back()).find(c.argv.front() + ": error: ") == 0);
    CHECK(std::string(lines.back()).find(c.says) != std::string::npos);
  }
  for (const char* program : {"bench-ctx", "bench-conc", "bench-tp4", "streamgap", "bench-dec"}) {
    const Captured plan =
        run_program({program, "--base-url", "http://127.0.0.1:1", "--dry-run"}, {}, dir.path().string());
    INFO(program << plan.err);
    CHECK(plan.exit.code == 0);
    CHECK(json_of(plan)["seed"].as_string() == "0");
  }
}

TEST_CASE("streams in an encoding that nobody asked for say so") {
  const TempDir dir;
  const std::string script = dir.path() / "chat.jsonl";
  REQUIRE(write_file_atomic(script, compressed("/v1/chat/completions")));
  const SimEngine engine({"--script", script});
  const Captured run = run_program(
      {"bench-conc", "--base-url", engine.url(), "-C", "1", "-n", "1", "--warmup", "0", "-q"}, {}, dir.path().string());
  CHECK(run.exit.code == 3);
  CHECK(run.err.find("Content-Encoding: gzip") != std::string::npos);
}

TEST_CASE("requests that fail under load are counted, and all failing is an error") {
  TempDir dir;
  SimEngine some({"--fault", "429=2"});
  const Captured part =
      run_program(argv_of({"bench-conc"}, some, {"-C", "2", "-n", "6", "--tokens", "8", "--warmup", "0", "--json"}), {},
                  dir.path().string());
  CHECK(part.exit.code == 1);
  const Json row = json_of(part)["rows"].items().front();
  CHECK(whole(row["failed"]) == 2);
  CHECK(real(row["good_share"]) == Approx(4.0 / 6));
  SimEngine none({"--fault", "error-in-200=3"});
  const Captured all =
      run_program(argv_of({"bench-conc"}, none, {"-C", "2", "-n", "4", "--tokens", "64", "--warmup", "0", "--json"}),
                  {}, dir.path().string());
  CHECK(all.exit.code == 3);
  CHECK(std::string(split_lines(all.err).back()).find("all 4 requests failed") != std::string::npos);
  CHECK(json_of(all)["rows"].items().front()["aggregate_tok_s"].is_null());
}
