#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "capture.h"
#include "run.h"
#include "support/sim_engine.h"
#include "trace/decompose.h"

using namespace bk;
using namespace bk::profile_step;

namespace {

const std::string kTrace = std::string(BK_SOURCE_DIR) + "/tests/fixtures/traces/toy-eager.pt.trace.json.gz";
const std::string kNoKernels = std::string(BK_SOURCE_DIR) + "/tests/fixtures/traces/vllm-0.26.0-api.pt.trace.json.gz";

struct Ran {
  int code = 0;
  std::string out, err;
};

Ran run_profile_step(const cli::Args& args) {
  std::ostringstream out, err;
  cli::Streams streams{out, err};
  const int code = cli::run_with("profile-step", streams, args, profile_step::run);
  return {code, out.str(), err.str()};
}

/// sim-engine's own generation, and the two profiler routes from a script.
std::string profiler_script(const TempDir& dir) {
  std::string path = (dir.path() / "script.jsonl").string();
  REQUIRE(write_file_atomic(path, R"({"path": "/start_profile", "at_ms": 0, "data": "{}"}
{"path": "/stop_profile", "at_ms": 0, "data": "{}"}
)"));
  return path;
}

/// Brings two files into the folder while profile-step waits: first one without kernels, then half of the trace, then
/// all.
void write_traces(const std::filesystem::path& folder) {
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(150)); };
  const std::string whole = read_file(kTrace).value_or("");
  std::filesystem::copy_file(kNoKernels, folder / "api.json.gz");
  REQUIRE(append_file(folder / "rank0.json.gz", whole.substr(0, whole.size() / 2)));
  pause();
  REQUIRE(append_file(folder / "rank0.json.gz", whole.substr(whole.size() / 2)));
}

}  // namespace

TEST_CASE("what to trace") {
  struct Case {
    const char* text;
    bool prefill;
    std::int64_t tokens;
  };
  for (const Case& c : {Case{"prefill", true, 32'000}, Case{"prefill:100", true, 100}, Case{"2048", true, 2048},
                        Case{"decode:64", false, 64}}) {
    CAPTURE(c.text);
    const auto work = parse_work(c.text);
    REQUIRE(work);
    CHECK(work->prefill == c.prefill);
    CHECK(work->tokens == c.tokens);
  }
  for (const char* text : {"", "decode", "decode:", "decode:0", "decode:x", "prefil", "encode:5", "prefill:"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_work(text));
  }
}

TEST_CASE("the trace is the new file with kernels, once it stands still") {
  TempDir traces;
  std::ofstream(traces.path() / "earlier.json") << "{\"traceEvents\": []}";
  const auto folder = TraceFolder::look(traces.path().string());
  REQUIRE(folder);
  write_traces(traces.path());
  SystemClock clock;
  const auto found = folder->wait_for_trace(50 * kMillisecond, 20 * kSecond, clock);
  REQUIRE(found);
  CHECK(std::filesystem::path(*found).filename() == "rank0.json.gz");
}

TEST_CASE("the whole program against an engine with profiler routes") {
  TempDir dir, traces;
  test::SimEngine engine({"--script", profiler_script(dir)});
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    write_traces(traces.path());
  });
  const Ran ran = run_profile_step(
      {"decode:32", traces.path().string(), "--base-url", engine.url(), "--settle", "0.3", "--wait", "30", "--json"});
  writer.join();
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  const auto json = parse_json(ran.out);
  REQUIRE(json);
  CHECK((*json)["completion_tokens"].as_int() == 32);
  CHECK((*json)["steps_basis"].as_string() == "drafts");
  CHECK((*json)["sum_ms"].as_double() == Approx(10.732680));
  CHECK((*json)["steps"].as_int().value_or(0) > 3);
  CHECK((*json)["steps"].as_int().value_or(99) < 32);
  CHECK((*json)["groups"].items().size() == 5);
}

TEST_CASE("an engine without profiler routes is named, and so is a folder that stays empty") {
  TempDir dir, traces;
  test::SimEngine plain;
  const Ran none = run_profile_step({"decode:4", traces.path().string(), "--base-url", plain.url()});
  CHECK(none.code == 3);
  CHECK(none.err.find("/start_profile") != std::string::npos);
  test::SimEngine engine({"--script", profiler_script(dir)});
  const Ran empty = run_profile_step(
      {"prefill:64", traces.path().string(), "--base-url", engine.url(), "--settle", "0.1", "--wait", "1", "-q"});
  CHECK(empty.code == 3);
  CHECK(empty.err.find("no finished trace") != std::string::npos);
  CHECK(run_profile_step({"decode:4", "/no/such/folder", "--base-url", plain.url()}).code == 3);
}

TEST_CASE("a capture decomposed by hand") {
  const std::string text = R"([{"ph":"X","cat":"kernel","name":"gemm","ts":0,"dur":10,"tid":1},
    {"ph":"X","cat":"kernel","name":"nccl","ts":5,"dur":10,"tid":2},
    {"ph":"X","cat":"gpu_memcpy","name":"copy","ts":20,"dur":10,"tid":1},
    {"ph":"X","cat":"kernel","name":"endless","ts":40}])";
  const auto recording = trace::record(trace::memory_source(text), "by hand");
  REQUIRE(recording);
  const auto rules = trace::parse_rules(trace::default_rules_text(), "built-in");
  REQUIRE(rules);
  const auto d = trace::decompose(*recording, *rules);
  CHECK(d.left_out == 1);
  CHECK(d.wall_ms == Approx(0.030));
  CHECK(d.busy_ms == Approx(0.025));
  CHECK(d.idle_ms == Approx(0.005));
  CHECK(d.sum_ms == Approx(0.030));
  CHECK(d.groups.size() == 3);
}
