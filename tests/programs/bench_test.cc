#include <catch2/catch.hpp>
#include <cmath>

#include "base/file.h"
#include "base/json.h"
#include "store/store.h"
#include "support/sim_engine.h"

using namespace bk;
using test::run_program;
using test::SimEngine;

namespace {

Json json_of(const Captured& run) {
  INFO(run.out);
  INFO(run.err);
  auto json = parse_json(run.out);
  REQUIRE(json);
  return *json;
}

std::int64_t whole(const Json& json) {
  REQUIRE(json.as_int());
  return *json.as_int();
}

double real(const Json& json) {
  REQUIRE(json.as_double());
  return *json.as_double();
}

}  // namespace

TEST_CASE("bench-probe -n 1 --json shows one request whole") {
  SimEngine engine;
  TempDir dir;
  const Captured run = run_program({"bench-probe", "--base-url", engine.url(), "-n", "1", "--warmup", "0", "--json"},
                                   {}, dir.path().string());
  REQUIRE(run.exit.code == 0);
  const Json json = json_of(run);
  CHECK(json["status"].as_string() == "ok");
  CHECK(json["reason"].is_null());
  CHECK(whole(json["prompt_tokens"]) == 2048);
  CHECK(whole(json["cached_tokens"]) == 0);
  CHECK(whole(json["completion_tokens"]) == 128);
  CHECK(json["tokens_source"].as_string() == "usage");
  CHECK(json["decode_basis"].as_string() == "exact");
  CHECK(json["finish_reason"].as_string() == "length");
  CHECK(whole(json["usage"]["completion_tokens"]) == 128);
  CHECK(real(json["ttfr_ms"]) <= real(json["ttft_ms"]));
  CHECK(real(json["ttft_ms"]) <= real(json["first_answer_ms"]));
  CHECK(real(json["decode_tok_s"]) > 0);
  CHECK(whole(json["events"]) > 20);
  // A stream of k = 5 drafts: one prefill token, then 1 + A/N tokens a step.
  const Json& acceptance = json["acceptance"];
  const double drafts = real(acceptance["drafts"]);
  CHECK(real(acceptance["raw"]) == Approx(real(acceptance["accepted"]) / real(acceptance["draft_tokens"])));
  CHECK(real(acceptance["tokens_per_step"]) == Approx(1 + real(acceptance["accepted"]) / drafts));
  CHECK(acceptance["per_position"].items().size() == 5);
}

TEST_CASE("bench-dec reports acceptance as its counters say, and its step rate follows from it") {
  SimEngine engine;
  TempDir dir;
  const Captured run =
      run_program({"bench-dec", "--base-url", engine.url(), "-C", "1,2", "--reps", "2", "--tokens", "64", "--json"}, {},
                  dir.path().string());
  REQUIRE(run.exit.code == 0);
  const Json json = json_of(run);
  REQUIRE(json["rows"].items().size() == 4);
  for (const Json& row : json["rows"].items()) {
    CHECK(whole(row["completion_tokens"]) == 64 * whole(row["concurrency"]));
    const double raw = real(row["acceptance_raw_pct"]) / 100, k = real(row["k_eff"]);
    CHECK(real(row["acceptance_legacy_pct"]) / 100 == Approx(raw * 2 * k / (k + 1)));
    CHECK(real(row["tokens_per_step"]) == Approx(1 + k * raw));
    if (whole(row["concurrency"]) == 1) {
      CHECK(real(row["step_s"]) == Approx(real(row["decode_tok_s"]) / (1 + k * raw)));
    } else {
      CHECK(row["step_s"].is_null());
    }
  }
  CHECK(json["summary"].items().size() == 4);
}

TEST_CASE("an answer that was held back and came at once has no decode rate") {
  struct Row {
    const char* stream;
    bool one_read;  // the client may well see all of it in one
  };
  const Row rows[] = {
      {R"({"first_ms": 40, "every_ms": 2, "events": 2, "tokens_per_event": [1, 4000], "text": " a"})", false},
      {R"({"first_ms": 40, "every_ms": 0.001, "events": 256})", true},
  };
  for (const Row& row : rows) {
    const TempDir dir;
    const std::string script = dir.path() / "held.jsonl";
    REQUIRE(write_file_atomic(script, std::string(R"({"stream": )") + row.stream + "}\n"));
    const SimEngine engine({"--script", script});
    for (const char* program : {"bench-dec", "bench-probe"}) {
      const bool probe = std::string(program) == "bench-probe";
      std::vector<std::string> argv = {program, "--base-url", engine.url(), "--tokens", "64", "--json"};
      if (probe) argv.insert(argv.end(), {"-n", "1", "--warmup", "0", "--prompt-tokens", "64"});
      if (!probe) argv.insert(argv.end(), {"-C", "1", "--reps", "1"});
      const Captured run = run_program(argv, {}, dir.path().string());
      INFO(program << row.stream << run.out);
      const Json json = json_of(run);
      const Json& figures = probe ? json : json["rows"].items().front();
      CHECK(figures["decode_tok_s"].is_null());
      const auto why = figures[probe ? "decode_tok_s_reason" : "note"].as_string();
      CHECK((why == "faster_than_any_engine" || (row.one_read && why == "burst")));
    }
  }
}

TEST_CASE("contexts and load name why a held-back answer has no decode rate") {
  const TempDir dir;
  const std::string script = dir.path() / "held.jsonl";
  for (const char* first_ms : {"20", "300"}) {  // whole answers of more than 20,000 tok/s, and of fewer
    REQUIRE(write_file_atomic(script, std::string(R"({"stream": {"first_ms": )") + first_ms +
                                          R"(, "every_ms": 2, "events": 2, "tokens_per_event": [1, 4000]}})" + "\n"));
    const SimEngine engine({"--script", script});
    for (std::vector<std::string> argv : {std::vector<std::string>{"bench-ctx", "--contexts", "2K", "--reps", "1"},
                                          std::vector<std::string>{"bench-conc", "-C", "1", "-n", "2"}}) {
      argv.insert(argv.end(), {"--base-url", engine.url(), "--json"});
      const Captured run = run_program(argv, {}, dir.path().string());
      INFO(first_ms << run.out);
      const Json json = json_of(run);
      const Json& row = json["rows"].items().front();
      CHECK(row["note"].as_string().value_or("").find("faster_than_any_engine") != std::string::npos);
      if (argv.front() == "bench-conc" && std::string(first_ms) == "300") CHECK(real(row["aggregate_tok_s"]) < 20'000);
    }
  }
}

TEST_CASE("the same seeds ask for the same work in another boot") {
  std::string contents[2];
  for (std::string& content : contents) {
    SimEngine engine({"--seed", "5"});
    TempDir dir;
    const Captured run = run_program(
        {"bench-dec", "--base-url", engine.url(), "-C", "1", "--reps", "2", "--tokens", "16", "--db", "r.db", "-q"}, {},
        dir.path().string());
    REQUIRE(run.exit.code == 0);
    const auto rows = run_captured({{"sqlite3", (dir.path() / "r.db").string(),
                                     "select usage_prompt_tokens from request order by sample_id, position"},
                                    {},
                                    "",
                                    ""},
                                   10 * kSecond);
    REQUIRE(rows);
    content = rows->out;
    CHECK(split_lines(content).size() == 3);  // one warm-up, two measured
  }
  CHECK(contents[0] == contents[1]);
}

TEST_CASE("what goes wrong is one line and the right exit code") {
  SimEngine engine;
  TempDir dir;
  struct Case {
    std::vector<std::string> argv;
    int code;
    std::string says;
  };
  const std::string url = engine.url();
  const Case cases[] = {
      {{"bench-probe", "--base-url", url, "--model", "deepseek-v4-flush"}, 2, "deepseek-v4-flash"},
      {{"bench-probe", "--base-url", "http://127.0.0.1:1"}, 3, "127.0.0.1:1"},
      {{"bench-probe", "--base-url", url, "--reqests", "3"}, 2, "--requests"},
      {{"bench-dec", "--base-url", url, "--reps", "0"}, 2, "--reps"},
      {{"bench-dec", "--base-url", url, "--db", "/no/such/folder/r.db"}, 3, "/no/such/folder"},
      {{"bench-dec", "--base-url", url, "--out", "/no/such/folder/x"}, 3, "/no/such/folder"},
      {{"bench-dec", "--base-url", url, "--api-key-env", "BK_NO_SUCH_KEY"}, 2, "BK_NO_SUCH_KEY"},
      {{"bench-dec", "--base-url", url, "--format", "xml"}, 2, "xml"},
      {{"bench-dec", "--base-url", url, "--extra-body", R"({"n":2})"}, 2, "one reply a request"},
      {{"bench-dec", "--base-url", url, "--metrics-url", "http://127.0.0.1:1/metrics"}, 3, "--metrics-url"},
  };
  for (const Case& c : cases) {
    const Captured run = run_program(c.argv, {}, dir.path().string());
    INFO(c.argv.back() << "\n" << run.err);
    CHECK(run.exit.code == c.code);
    CHECK(run.out.empty());
    const auto lines = split_lines(run.err);
    REQUIRE_FALSE(lines.empty());
    CHECK(std::string(lines.back()).find(c.says) != std::string::npos);
    CHECK(lines.size() == 1);
  }
}

TEST_CASE("a key from the environment or a file reaches the server and shows nowhere") {
  const std::string key = "sk-secret-4711";
  SimEngine engine({"--api-key-env", "SIM_KEY"}, {{"SIM_KEY", key}});
  TempDir dir;
  const auto key_file = dir.path() / "key";
  REQUIRE(write_file_atomic(key_file, key + "\n"));
  std::filesystem::permissions(key_file, std::filesystem::perms::owner_read);
  const std::vector<std::string> base = {"bench-probe", "--base-url",      engine.url(), "-n",       "1", "--warmup",
                                         "0",           "--prompt-tokens", "64",         "--tokens", "8", "--json"};
  for (const bool by_file : {false, true}) {
    auto argv = base;
    argv.push_back(by_file ? "--api-key-file" : "--api-key-env");
    argv.push_back(by_file ? key_file.string() : "CLIENT_KEY");
    const Captured run = run_program(argv, {{"CLIENT_KEY", key}}, dir.path().string());
    INFO(run.err);
    CHECK(run.exit.code == 0);
    CHECK((run.out + run.err).find(key) == std::string::npos);
    for (const auto& entry : std::filesystem::directory_iterator(dir.path())) {
      if (entry.path() != key_file) CHECK(read_file(entry.path()).value().find(key) == std::string::npos);
    }
  }
  const Captured refused = run_program(base, {}, dir.path().string());
  CHECK(refused.exit.code == 3);
  CHECK(refused.err.find("401") != std::string::npos);
}

TEST_CASE("failed requests are counted, stored and never averaged") {
  SimEngine engine({"--fault", "error-in-200=3"});
  TempDir dir;
  const Captured run = run_program({"bench-probe", "--base-url", engine.url(), "-n", "2", "--warmup", "0",
                                    "--prompt-tokens", "64", "--tokens", "8", "--json", "-q", "--db", "r.db"},
                                   {}, dir.path().string());
  INFO(run.out);
  INFO(run.err);
  CHECK(run.exit.code == 3);
  const auto rows =
      run_captured({{"sqlite3", (dir.path() / "r.db").string(),
                     "select count(*) from request where outcome = 'server_error' and decode_tok_s is null"},
                    {},
                    "",
                    ""},
                   10 * kSecond);
  REQUIRE(rows);
  CHECK(trim(rows->out) == "2");
}

TEST_CASE("bench-dec normalises to acc=50, counts the engine's own steps, and refuses with too few samples") {
  SimEngine engine;
  TempDir dir;
  const Captured run = run_program({"bench-dec", "--base-url", engine.url(), "-C", "1", "--reps", "4", "--tokens",
                                    "250", "--step-window", "0.1", "--json", "-q"},
                                   {}, dir.path().string());
  REQUIRE(run.exit.code == 0);
  const Json json = json_of(run);
  const Json& fit = json["acc_fit"];
  CHECK(whole(fit["n"]) == 4);
  CHECK(fit["metric"].as_string() == "round_tok_s");
  CHECK(real(fit["at_acc55_tok_s"]) - real(fit["at_acc50_tok_s"]) ==
        Approx(5 * real(fit["slope_tok_s_per_point"])).margin(1e-6));
  CHECK(real(fit["sigma_tok_s"]) >= 0);
  CHECK(fit["reason"].is_null());
  for (const Json& row : json["rows"].items()) {
    CHECK(whole(row["windows"]) >= 1);
    CHECK(real(row["window_step_s"]) > 0);
  }
  const Captured few =
      run_program({"bench-dec", "--base-url", engine.url(), "-C", "1", "--reps", "2", "--tokens", "32", "--json", "-q"},
                  {}, dir.path().string());
  REQUIRE(few.exit.code == 0);
  const Json refused = json_of(few)["acc_fit"];
  CHECK(refused["at_acc50_tok_s"].is_null());
  CHECK(refused["reason"].as_string() == "acc=50 needs at least 3 samples, not 2");
}

TEST_CASE("bench-dec measures content sets apart and in their mix") {
  SimEngine engine;
  TempDir dir;
  const Captured run = run_program({"bench-dec", "--base-url", engine.url(), "-C", "1", "--reps", "1", "--warmup", "0",
                                    "--tokens", "120", "--ignore-eos", "--content", "code,korean=3", "--json", "-q"},
                                   {}, dir.path().string());
  REQUIRE(run.exit.code == 0);
  const Json json = json_of(run);
  const auto& rows = json["rows"].items();
  REQUIRE(rows.size() == 4);
  const std::pair<const char*, std::int64_t> cells[] = {
      {"code short", 96}, {"code long", 120}, {"korean short", 96}, {"korean long", 120}};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(rows[i]["content"].as_string() == cells[i].first);
    CHECK(whole(rows[i]["completion_tokens"]) == cells[i].second);
  }
  const auto& sets = json["content"].items();
  REQUIRE(sets.size() == 3);
  const double code = real(sets[0]["decode_tok_s"]), korean = real(sets[1]["decode_tok_s"]);
  CHECK(code == Approx(2 / (1 / real(rows[0]["decode_tok_s"]) + 1 / real(rows[1]["decode_tok_s"]))));
  CHECK(sets[2]["content"].as_string() == "total");
  CHECK(real(sets[2]["weight"]) == 4);
  CHECK(real(sets[2]["decode_tok_s"]) == Approx(4 / (1 / code + 3 / korean)));
  CHECK(whole(sets[0]["version"]) == 1);
  CHECK(json["plan"]["content"].items()[1]["hash"].as_string().value_or("").size() == 64);
  const Captured wrong = run_program({"bench-dec", "--content", "koraen"}, {}, dir.path().string());
  CHECK(wrong.exit.code == 2);
  CHECK(wrong.err.find("did you mean korean?") != std::string::npos);
}

TEST_CASE("what failed in part is said in one line, and the run's row keeps the exit code") {
  SimEngine engine({"--fault", "503=2"});
  TempDir dir;
  const std::string db = (dir.path() / "r.db").string();
  const Captured run = run_program({"bench-dec", "--base-url", engine.url(), "-C", "1", "--reps", "3", "--warmup", "0",
                                    "--tokens", "16", "--db", db, "-q"},
                                   {}, dir.path().string());
  INFO(run.err);
  CHECK(run.exit.code == 1);
  CHECK_THAT(run.err, Catch::Contains("bench-dec: ") && Catch::Contains(" of 3 requests failed; the first: ") &&
                          Catch::Contains("(" + engine.url() + ")"));
  auto database = store::Database::open(db, store::OpenMode::kReadOnly);
  REQUIRE(database);
  const auto row = database->run(1);
  REQUIRE(row);
  REQUIRE(*row);
  CHECK((*row)->exit_code == 1);
  CHECK((*row)->state == "done");
}
