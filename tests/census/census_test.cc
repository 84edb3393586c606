#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "lanes.h"
#include "ran.h"
#include "support/priority_after.h"

using namespace bk;
using namespace bk::test;

TEST_CASE("a torch trace sums to what torch says, name by name") {
  const Json json = json_of({kToy, "--step", "argmax"});
  CHECK(json["kernels"].as_int() == 1824);
  CHECK(json["kernels_us"].as_double() == 10696.136);
  CHECK(json["kernels_and_copies"].as_int() == 1848);
  CHECK(json["kernels_and_copies_us"].as_double() == 10732.680);
  CHECK(json["steps"].as_int() == 12);
  const auto text = read_file(kFixtures + "traces/toy-eager.expect.json");
  REQUIRE(text);
  const auto expected = parse_json(*text);
  REQUIRE(expected);
  int compared = 0;
  for (const auto& [name, sums] : (*expected)["kernels"].members()) {
    if (name.starts_with("Memcpy")) continue;
    CAPTURE(name);
    const Json& row = row_of(json["names"], "name", name);
    CHECK(row["kernels"].as_int() == sums["count"].as_int());
    CHECK(row["us"].as_double() == Approx(*sums["us"].as_double()).margin(0.0005));
    ++compared;
  }
  CHECK(compared == 22);
  CHECK(json["names"].items().size() == 22);
}

TEST_CASE("a vLLM trace: steps by annotation, totals whole") {
  const Json json = json_of({kVllm});
  CHECK(json["kernels"].as_int() == 10802);
  CHECK(json["kernels_us"].as_double() == 46390.275);
  CHECK(json["steps"].as_int() == 23);
  CHECK(json["step_anchor"].as_string() == "gpu_annotation execute_context_0(0)_generation_1(1)");
  const Json all = json_of({kVllm, "--step", "argmax", "--after", "topkGating", "--depth", "1"});
  CHECK(all["steps"].as_int() == 24);
  std::int64_t gating = 0, followed = 0;
  for (const Json& row : all["names"].items()) {
    if (row["name"].as_string()->find("topkGating") != std::string::npos) gating += *row["kernels"].as_int();
  }
  for (const Json& row : all["followers"].items()) followed += *row["count"].as_int();
  CHECK(gating == 576);
  CHECK(followed == 576);
}

TEST_CASE("composition and tail of the vLLM trace") {
  const Json json = json_of({"composition", kVllm});
  CHECK(json["steps"].as_int() == 17);
  CHECK(row_of(json["groups"], "group", "gemm")["kernels_per_step"].as_double() == 97.0);
  CHECK(json["allreduce"].is_null());
  CHECK(json["idle_us"].as_double().value_or(-1) < json["span_us"].as_double().value_or(-1));
  const Json tail = json_of({"tail", kVllm});
  CHECK(tail["forward_us"].as_double().value_or(0) > 60 * tail["tail_us"].as_double().value_or(0));
  const Json diff = json_of({"composition", kVllm, "--diff", kVllm});
  for (const Json& row : diff["groups"].items()) {
    CHECK(row["us_change"].as_double() == 0.0);
    CHECK(row["count_changed"].as_string() == "");
  }
}

TEST_CASE("no kernels and broken traces are one line, without sums") {
  const std::string broken = kFixtures + "25-trace-invalid-json/";
  struct Case {
    cli::Args args;
    int code;
    std::string says;
  };
  const Case cases[] = {
      {{kFixtures + "traces/vllm-0.26.0-api.pt.trace.json.gz"}, 3, "no GPU kernels in this trace"},
      {{broken + "no-kernels.json"}, 3, "no GPU kernels in this trace"},
      {{broken + "cut.json"}, 3, "cut.json, byte 322"},
      {{broken + "bare-words.json"}, 3, "bare-words.json, byte 286"},
      {{broken + "bad-crc.json.gz"}, 3, "checksum"},
      {{broken + "none.json"}, 3, "No such file"},
      {{broken + "good.json", broken + "good.json"}, 2, "one trace, not 2"},
      {{broken + "good.json", "--format", "csv"}, 2, "none of table, json, md"},
      {{"composition", broken + "good.json", "--step", "alpha"}, 4, "0 of 0 steps"},
      {{"composition", broken + "good.json"}, 4, "--step"},
      {{broken + "good.json", "--after", "["}, 2, "regular expression"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.args.back());
    const Ran ran = run_census(c.args);
    CHECK(ran.code == c.code);
    CHECK(ran.out.empty());
    CHECK(split_lines(ran.err).size() == 1);
    CHECK(ran.err.find(c.says) != std::string::npos);
  }
}

TEST_CASE("a repaired trace says how much was lost") {
  const Ran ran = run_census({kFixtures + "25-trace-invalid-json/bare-words.json", "--repair"});
  CHECK(ran.code == 0);
  CHECK(ran.out.find("repaired: 2 events read, 1 places lost") != std::string::npos);
  CHECK(ran.out.find("steps: unknown") != std::string::npos);
}

TEST_CASE("a diff marks names whose launches per step changed") {
  const Json json = json_of({kToy, "--step", "argmax", "--diff", kVllm});
  CHECK(json["steps_a"].as_int() == 12);
  CHECK(json["steps_b"].as_int() == 24);
  const Json& row = row_of(json["names"], "name", "fused_moe_kernel");
  CHECK(row["kernels_per_step_a"].as_double() == 0.0);
  CHECK(row["kernels_per_step_b"].as_double() == 48.0);
  CHECK(row["count_changed"].as_string() == "changed");
}

TEST_CASE("a slice is a trace again") {
  TempDir dir;
  const std::string slice = (dir.path() / "slice.json").string();
  REQUIRE(run_census({kVllm, "--perfetto", slice}).code == 0);
  const Json json = json_of({slice});
  CHECK(json["kernels"].as_int().value_or(0) >= 446);
  CHECK(json["kernels"].as_int().value_or(0) < 460);
}

TEST_CASE("in a slice, events of one track are apart or nest, and none is lost") {
  TempDir dir;
  const std::string path = (dir.path() / "slice.json").string();
  REQUIRE(run_census({kVllm, "--perfetto", path}).code == 0);
  const auto text = read_file(path);
  REQUIRE(text);
  const auto slice = parse_json(*text);
  REQUIRE(slice);
  std::map<std::pair<std::string, std::string>, std::vector<census::Span>> tracks;
  std::map<std::string, std::string> names;  // of lanes
  std::set<std::pair<std::string, double>> starts, arrows;
  std::set<std::string> from, to;  // of arrows
  const auto ns = [](const Json& us) { return std::llround(us.as_double().value_or(-1) * 1e3); };
  for (const Json& event : (*slice)["traceEvents"].items()) {
    const std::string ph = event["ph"].as_string().value_or(""), tid = event["tid"].dump();
    const bool on_lane = tid.find("lane 2") != std::string::npos;
    if (ph == "X") tracks[{event["pid"].dump(), tid}].push_back({ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])});
    if (ph == "X" && on_lane) starts.insert({tid, event["ts"].as_double().value_or(0)});
    if (ph == "f" && on_lane) arrows.insert({tid, event["ts"].as_double().value_or(0)});
    if (ph == "s") from.insert(event["id"].dump());
    if (ph == "f") to.insert(event["id"].dump());
    // The profiler's own span over the whole capture, in which the step would be a hair.
    CHECK(event["cat"].as_string().value_or("") != "Trace");
    if (ph == "M" && on_lane) names[tid] = event["args"]["name"].as_string().value_or("");
  }
  for (const auto& [track, spans] : tracks) {
    CAPTURE(track.second);
    for (const std::size_t lane : census::nested_lanes(spans)) REQUIRE(lane == 0);
  }
  CHECK(from == to);
  CHECK(from.size() == 9);
  // Eight kernels are launched before the one before them has ended.
  CHECK(starts.size() == 8);
  CHECK(arrows == starts);
  CHECK(names == std::map<std::string, std::string>{{"\"7, lane 2\"", "7, lane 2"}});
}

TEST_CASE("spans get lanes on which they are apart or nest") {
  struct Case {
    std::vector<census::Span> spans;
    std::vector<std::size_t> lanes;
  };
  const Case cases[] = {{{}, {}},
                        {{{0, 10}, {10, 20}}, {0, 0}},
                        {{{2, 5}, {0, 10}, {5, 10}}, {0, 0, 0}},
                        {{{0, 10}, {9, 12}, {12, 15}}, {0, 1, 0}},
                        {{{0, 10}, {5, 15}, {6, 20}, {7, 9}}, {0, 1, 2, 0}},
                        {{{0, 10}, {0, 10}, {4, 4}}, {0, 0, 0}}};
  for (const Case& c : cases) {
    CAPTURE(c.spans.size());
    CHECK(census::nested_lanes(c.spans) == c.lanes);
  }
}

TEST_CASE("a page stands alone: no script, no other file, no network") {
  TempDir dir;
  const std::string page = (dir.path() / "page.html").string();
  REQUIRE(run_census({kVllm, "--html", page}).code == 0);
  const auto html = read_file(page);
  REQUIRE(html);
  for (const char* none : {"<script", "<link", "<img", "src=", "href=", "url(", "@import", "http:", "https:"}) {
    CAPTURE(none);
    CHECK(html->find(none) == std::string::npos);
  }
  for (const char* some : {"name=\"viewport\"", "prefers-color-scheme:dark", ">0:7</b>", ">0:13</b>", "</span>moe</td>",
                           "764.3", "fused_moe_kernel, "}) {
    CAPTURE(some);
    CHECK(html->find(some) != std::string::npos);
  }
}

TEST_CASE("names that are markup stay text on the page") {
  TempDir dir;
  const std::string trace = (dir.path() / "x<b>.json").string(), page = (dir.path() / "page.html").string();
  std::string text = "[";
  for (const char* ts : {"0", "10", "20"}) {
    text += R"({"ph":"X","cat":"kernel","name":"<script>alert('1')</script>&\"","pid":"<i>","tid":"<u>","ts":)" +
            std::string(ts) + R"(,"dur":4},)";
  }
  REQUIRE(write_file_atomic(trace, text));
  REQUIRE(run_census({trace, "--html", page, "--step", "script"}).code == 0);
  const auto html = read_file(page);
  REQUIRE(html);
  for (const char* none : {"<script", "<i>:", "<u>", "x<b>"}) {
    CAPTURE(none);
    CHECK(html->find(none) == std::string::npos);
  }
  CHECK(html->find("&lt;script&gt;") != std::string::npos);
}

TEST_CASE("--nice leaves the processor and the disk to a serving engine") {
  const auto after = [](const cli::Args& args) {
    return test::priority_after([&] { static_cast<void>(run_census(args)); });
  };
  CHECK(after({kToy}).nice == getpriority(PRIO_PROCESS, 0));
  for (const cli::Args& args : {cli::Args{kToy, "--nice"}, cli::Args{"gaps", kToy, "--nice"},
                                cli::Args{"composition", kToy, "--nice"}, cli::Args{"ranks", kToy, "--nice"}}) {
    CAPTURE(args.front());
    const test::Priority seen = after(args);
    CHECK(seen.nice == 19);
    CHECK(seen.nice_of_thread == 19);
    CHECK(seen.io_class == 3);
  }
}

TEST_CASE("markdown and table show the same figures") {
  const Ran table = run_census({kToy, "--step", "argmax", "--top", "3"});
  const Ran markdown = run_census({kToy, "--step", "argmax", "--top", "3", "--format", "md"});
  CHECK(table.out.find("with copies and sets: 1848, 10732.680 us") != std::string::npos);
  CHECK(markdown.out.find("- with copies and sets: 1848, 10732.680 us") != std::string::npos);
  CHECK(markdown.out.find("## by group") != std::string::npos);
}

TEST_CASE("eight ranks: the one that is shortest in the collectives is waited for") {
  TempDir dir;
  cli::Args args{"ranks"};
  for (int rank = 0; rank < 8; ++rank) {
    // The capture of rank 2 began last. Rank 5 comes last to both collectives after the first; everybody else is in
    // them for longer.
    const std::string first = rank == 2 ? "10" : "9000", dur = rank == 5 ? "10" : std::to_string(30 + rank);
    std::string text = "[";
    for (const auto& [ts, us] : {std::pair("0", first), std::pair("10000", dur), std::pair("20000", dur)}) {
      text += R"({"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum","tid":7,"ts":)" + std::string(ts) +
              R"(,"dur":)" + us + "},";
    }
    const std::string path = (dir.path() / ("rank" + std::to_string(rank) + ".json")).string();
    REQUIRE(write_file_atomic(path, text));
    args.push_back(path);
  }
  const Json json = json_of(args);
  CHECK(json["straggler"].as_int() == 5);
  CHECK(json["collectives_compared"].as_int() == 2);
  REQUIRE(json["ranks"].items().size() == 8);
  CHECK(json["ranks"].items()[5]["last_to"].as_int() == 2);
  CHECK(json["ranks"].items()[7]["waited_us"].as_double() == 54.0);
  CHECK(json["ranks"].items()[7]["waited_for_5_us"].as_double() == 54.0);
  cli::Args with_first = args;
  with_first.insert(with_first.end(), {"--skip", "0"});
  CHECK(json_of(with_first)["straggler"].as_int() == 2);
  CHECK(json_of(with_first)["collectives_compared"].as_int() == 3);
  args.back() = kToy;
  CHECK(run_census(args).code == 4);
}

TEST_CASE("two real ranks: the one that starts its collectives last is waited for") {
  const std::string torch = kFixtures + "traces/torch-2.11.0-";
  const Json json =
      json_of({"ranks", torch + "rank0.pt.trace.json.gz", torch + "rank1.pt.trace.json.gz", "--skip", "0"});
  CHECK(json["collectives_compared"].as_int() == 16);
  // Both ran on one clock: by their start times, rank 0 came 2.0 to 171 ms after rank 1 to each of the sixteen.
  CHECK(json["straggler"].as_int() == 0);
  CHECK(json["ranks"].items()[0]["last_to"].as_int() == 16);
  CHECK(json["ranks"].items()[1]["waited_for_0_us"].as_double() == Approx(205609.571).margin(0.001));
}

TEST_CASE("an annotation that torch repeats for every busy stream is one step") {
  const std::string torch = kFixtures + "traces/torch-2.11.0-";
  for (const auto& [name, steps] : {std::pair("eager-streams", 12), std::pair("graphs", 6)}) {
    CAPTURE(name);
    const std::string trace = torch + name + ".pt.trace.json.gz";
    CHECK(json_of({trace, "--step", "gpu_annotation:execute_step"})["steps"].as_int() == steps);
    CHECK(json_of({trace, "--step", "annotation:execute_step"})["steps"].as_int() == steps);
    CHECK(json_of({trace, "--step", "argmax"})["steps"].as_int() == steps);
  }
}

TEST_CASE("an NCCL fingerprint needs NCCL's lines") {
  TempDir dir;
  const std::string log = (dir.path() / "boot.log").string();
  REQUIRE(write_file_atomic(log, "a [0] NCCL INFO Channel 00/02 : 0 1\na [0] NCCL INFO Using network IB\n"));
  const Json json = json_of({"nccl-fingerprint", log});
  CHECK(json["lines"].as_int() == 2);
  CHECK(json["fingerprint"].as_string()->size() == 16);
  REQUIRE(write_file_atomic(log, "nothing\n"));
  CHECK(run_census({"nccl-fingerprint", log}).code == 3);
}
