#include <catch2/catch.hpp>
#include <sstream>

#include "base/file.h"
#include "base/json.h"
#include "run.h"

namespace bk::metrics_delta {
namespace {

struct Ran {
  int code = 0;
  std::string out, err;
  [[nodiscard]] Json json() const { return parse_json(out).value(); }
};

Ran run_with_args(const cli::Args& args) {
  std::ostringstream out, err;
  cli::Streams streams{out, err};
  const int code = cli::run_with("metrics-delta", streams, args, run);
  return {code, out.str(), err.str()};
}

std::string fixture(const std::string& name) { return std::string(BK_SOURCE_DIR) + "/tests/fixtures/" + name; }

std::string dp(const std::string& name) { return fixture("18-metrics-dp-acceptance/" + name); }
std::string llama(const std::string& name) { return fixture("21-llamacpp-metrics/" + name); }

TEST_CASE("counters and acceptance over two engines, as JSON (case 18)") {
  const Ran ran = run_with_args({dp("before.txt"), dp("after.txt"), "--json"});
  CHECK(ran.code == 0);
  CHECK(ran.err.empty());
  const Json json = ran.json();
  CHECK(json["schema_version"].as_int());
  CHECK(json["counters"]["drafts"]["before"].as_double() == 140.0);
  CHECK(json["counters"]["drafts"]["after"].as_double() == 440.0);
  CHECK(json["counters"]["drafts"]["delta"].as_double() == 300.0);
  CHECK(json["counters"]["draft_tokens"]["delta"].as_double() == 900.0);
  CHECK(json["counters"]["accepted_tokens"]["delta"].as_double() == 480.0);
  CHECK(json["acceptance"]["raw"].as_double().value() == Approx(0.533333).epsilon(1e-6));
  CHECK(json["acceptance"]["tokens_per_step"].as_double().value() == Approx(2.6));
  CHECK(json["acceptance"]["k_eff"].as_double().value() == Approx(3));
  CHECK(json["acceptance"]["per_position"].items().size() == 3);
  CHECK(json["counters"]["generation_tokens"]["delta"].is_null());
  CHECK(json["counters"]["generation_tokens"]["delta_reason"].as_string() == "counter_missing");
  CHECK(json["resets"].items().empty());
  CHECK(json["restarted"].as_bool() == false);
}

TEST_CASE("SGLang's gauges stand by rank with a labelled mean (case 18)") {
  const Ran ran = run_with_args({dp("sglang.txt"), dp("sglang.txt"), "--json"});
  CHECK(ran.code == 0);
  const Json sglang = ran.json()["sglang"];
  CHECK(sglang["accept_length_per_dp_rank"]["0"].as_double() == 2.4);
  CHECK(sglang["accept_length_per_dp_rank"]["1"].as_double() == 2.8);
  CHECK(sglang["accept_length_mean"].as_double().value() == Approx(2.6));
  CHECK_THAT(sglang["accept_length_mean_basis"].as_string().value(), Catch::Contains("plain mean"));
  CHECK(ran.json()["acceptance"].is_null());
  CHECK(ran.json()["acceptance_reason"].as_string() == "counter_missing");
}

TEST_CASE("llama.cpp's rates come from counters, and NaN is null (case 21)") {
  for (const char* after : {"after.txt", "after-lifetime-gauge.txt", "json-escaped.txt"}) {
    INFO(after);
    const Ran ran = run_with_args({llama("before.txt"), llama(after), "--json"});
    CHECK(ran.code == 0);
    CHECK(ran.json()["rates"]["decode_tok_s"].as_double().value() == Approx(128));
    CHECK(ran.json()["rates"]["prompt_tok_s"].as_double().value() == Approx(4000));
  }
  const Ran started = run_with_args({llama("startup.txt"), llama("startup.txt"), "--json"});
  CHECK(started.json()["gauges"]["n_busy_slots_per_decode"]["after"].is_null());
  CHECK(started.json()["counters"]["generation_tokens"]["after"].as_double() == 0.0);
}

TEST_CASE("a reset voids the interval and is named") {
  const Ran ran = run_with_args({dp("after.txt"), dp("before.txt"), "--json"});
  CHECK(ran.code == 5);
  CHECK(ran.json()["acceptance_reason"].as_string() == "counter_reset");
  CHECK(ran.json()["counters"]["drafts"]["delta"].is_null());
  CHECK_FALSE(ran.json()["resets"].items().empty());
  const Ran table = run_with_args({dp("after.txt"), dp("before.txt")});
  CHECK_THAT(table.out, Catch::Contains("reset: vllm:spec_decode_num_drafts_total|engine=0|model_name=m"));
}

TEST_CASE("the table says what was accepted and labels the older convention") {
  const Ran ran = run_with_args({dp("before.txt"), dp("after.txt")});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Catch::Contains("raw 53.3 %") && Catch::Contains("legacy 80.0 % (older ledger") &&
                          Catch::Contains("tokens per step 2.600") && Catch::Contains("80.0 50.0 30.0"));
}

TEST_CASE("what cannot be read ends with one line and the right exit code") {
  const Ran missing = run_with_args({"/nonexistent/page.txt", dp("after.txt")});
  CHECK(missing.code == 3);
  CHECK_THAT(missing.err, Catch::Contains("metrics-delta: error:") && Catch::Contains("/nonexistent/page.txt"));
  const Ran other = run_with_args({llama("disabled.http"), dp("after.txt")});
  CHECK(other.code == 2);
  CHECK_THAT(other.err, Catch::Contains("no metrics page: line 1:"));
  // Port 1 of loopback is closed: a dead metrics page gives nulls, never zeros.
  const Ran dead = run_with_args({dp("before.txt"), "http://127.0.0.1:1/metrics", "--json"});
  CHECK(dead.code == 3);
  CHECK(dead.json()["after"]["status"].as_string() == "unavailable");
  CHECK(dead.json()["counters"]["drafts"]["after"].is_null());
  CHECK(dead.json()["counters"]["drafts"]["delta_reason"].as_string() == "metrics_unavailable");
  CHECK_THAT(dead.err, Catch::Contains("no answer from the metrics page"));
  CHECK(run_with_args({dp("before.txt")}).code == 2);
  CHECK(run_with_args({dp("before.txt"), dp("after.txt"), "--format", "csv"}).code == 2);

  const TempDir dir;
  const std::string stranger = (dir.path() / "page.txt").string();
  REQUIRE(write_file_atomic(stranger, "node_load1 0.5\n"));
  CHECK(run_with_args({stranger, stranger}).code == 4);
}

}  // namespace
}  // namespace bk::metrics_delta
