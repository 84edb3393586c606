#include <catch2/catch.hpp>
#include <cmath>

#include "base/json.h"
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
