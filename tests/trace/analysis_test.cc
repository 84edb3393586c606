#include <algorithm>
#include <catch2/catch.hpp>

#include "builder.h"
#include "trace/census.h"
#include "trace/composition.h"
#include "trace/gaps.h"
#include "trace/intervals.h"
#include "trace/nccl_log.h"
#include "trace/ranks.h"

using namespace bk;
using namespace bk::trace;
using test::TraceBuilder;

namespace {

Rules rules_of(const std::string& text) {
  auto rules = parse_rules(text, "test");
  REQUIRE(rules);
  return *rules;
}

const char* const kRules =
    "group comms allreduce\ngroup moe expert\ngroup memops @gpu_memcpy\nours ^k_\nstep kernel sampler\n"
    "allreduce allreduce\nforward_end moe\n";

/// Twelve steps of 100 us: sampler 0-5, expert 10-30, beside it allreduce 20-50 on another stream, head 60-70, and a
/// copy 70-75.
Recording twelve_steps(double allreduce_us = 30) {
  TraceBuilder builder;
  for (int i = 0; i < 12; ++i) {
    const double t = 1000 + 100.0 * i;
    builder.kernel("sampler", t, 5).kernel("k_expert", t + 10, 20).kernel("allreduce", t + 20, allreduce_us, 9);
    builder.kernel("head", t + 60, 10).event("gpu_memcpy", "copy", std::to_string(t + 70), "5", 7);
  }
  return builder.recording();
}

}  // namespace

TEST_CASE("union, nearest rank, median") {
  CHECK(union_ns({{0, 10}, {5, 15}, {20, 30}}) == 25);
  CHECK(union_ns({{20, 30}, {0, 10}, {10, 12}, {3, 3}}) == 22);
  CHECK(union_ns({}) == 0);
  CHECK(union_ns({{0, 100}, {10, 20}}) == 100);
  const std::vector<std::int64_t> ten{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  CHECK(nearest_rank(ten, 0.1) == 1);
  CHECK(nearest_rank(ten, 0.5) == 5);
  CHECK(nearest_rank(ten, 0.9) == 9);
  CHECK(nearest_rank(ten, 0.91) == 10);
  CHECK(nearest_rank({7}, 0.1) == 7);
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 2.5);
}

TEST_CASE("patterns") {
  struct Case {
    const char* pattern;
    const char* name;
    bool matches;
  };
  const Case cases[] = {{"k_reduce", "my_k_reduce", true},
                        {"^k_reduce", "my_k_reduce", false},
                        {"^k_reduce", "k_reduce2", true},
                        {"k_reduce$", "k_reduce2", false},
                        {"^a*c$", "abc", true},
                        {"^a*c$", "abcd", false},
                        {"a*b*c", "xaxbxc", true},
                        {"^ab*b$", "ab", false},
                        {"GEMM", "x_gemm", true},
                        {"@gpu_memcpy", "gpu_memcpy", false}};
  for (const Case& c : cases) {
    CAPTURE(c.pattern, c.name);
    CHECK(Pattern(c.pattern).matches(c.name, "kernel") == c.matches);
  }
  CHECK(Pattern("@gpu_memcpy").matches("x", "gpu_memcpy"));
}

TEST_CASE("rules: the first group wins, mistakes name their line") {
  const Rules rules = rules_of("# x\n\ngroup a foo\ngroup b foo bar\n");
  CHECK(rules.groups[rules.group_of("FooBar", "kernel")].name == "a");
  CHECK(rules.groups[rules.group_of("bar", "kernel")].name == "b");
  CHECK(rules.groups[rules.group_of("baz", "kernel")].name == "other");
  CHECK(parse_rules(default_rules_text(), "built-in"));
  for (const char* text : {"group a foo\ngruop b x", "group a x\nstep kernel", "ours ^x\nstep gpu x"}) {
    const auto wrong = parse_rules(text, "f");
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().where == "f:2");
    CHECK(wrong.error().code == Errc::kUsage);
  }
}

TEST_CASE("census of a trace written by hand") {
  const Census census = take_census(twelve_steps(), rules_of(kRules));
  CHECK(census.steps == 12);
  CHECK(census.kernels.count == 48);
  CHECK(census.kernels.sum_ns == 12 * 65'000);
  CHECK(census.memops.sum_ns == 12 * 5'000);
  CHECK(census.ours.count == 12);
  CHECK(census.ours.sum_ns == 240'000);
  CHECK(census.image.count == 36);
  REQUIRE(census.groups.size() == 3);
  CHECK(census.groups[0].group == "comms");
  CHECK(census.groups[0].amount.sum_ns == 360'000);
}

TEST_CASE("a time is found in its step, before, between and after steps, in whatever order times come") {
  // One touches the next, one is empty.
  const std::vector<Step> steps = {{10, 20}, {20, 25}, {30, 30}, {30, 40}, {50, 60}};
  StepFinder finder(steps);
  std::uint32_t random = 1;
  for (int i = 0; i < 2000; ++i) {
    random = random * 1664525 + 1013904223;
    const std::int64_t ts = static_cast<std::int64_t>(random >> 16) % 80 - 5;
    CAPTURE(ts);
    std::optional<std::size_t> wanted;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      if (ts >= steps[s].begin_ns && ts < steps[s].end_ns) wanted = s;
    }
    REQUIRE(finder.find(ts) == wanted);
  }
  const std::vector<Step> none;
  CHECK_FALSE(StepFinder(none).find(5));
}

TEST_CASE("annotated steps count only what starts inside them") {
  TraceBuilder builder;
  builder.kernel("warm", 0, 5).event("gpu_user_annotation", "step", "10", "20", 7).kernel("a", 10, 3);
  builder.kernel("a", 29.999, 5)
      .kernel("a", 30, 1)
      .event("gpu_user_annotation", "step", "40", "10", 7)
      .kernel("b", 45, 1);
  const Census census = take_census(builder.recording(), rules_of("step gpu_annotation ^step"));
  CHECK(census.steps == 2);
  CHECK(census.counted.count == 3);
  CHECK(census.counted.sum_ns == 9'000);
  CHECK(census.outside.count == 2);
  CHECK(census.outside.sum_ns == 6'000);
}

TEST_CASE("of the names that the first matching rule finds, the most frequent is the step") {
  TraceBuilder builder;
  builder.kernel("x_rejection", 0, 1)
      .kernel("y_rejection", 2, 1)
      .kernel("y_rejection", 4, 1)
      .kernel("other_rule", 5, 1);
  const Rules rules = rules_of("step kernel none_such\nstep kernel rejection\nstep kernel other_rule");
  const Census census = take_census(builder.recording(), rules);
  CHECK(census.anchor_text == "kernel y_rejection");
  CHECK(census.steps == 2);
  CHECK(take_census(builder.recording(), rules_of("step kernel zzz")).steps == 0);
}

TEST_CASE("composition: idle is the union over streams, overlap what is counted twice") {
  const auto result = compose(twelve_steps(), rules_of(kRules), {std::nullopt, 0, 8});
  REQUIRE(result);
  CHECK(result->steps == 11);
  CHECK(result->span_us == 100);
  // Covered: 0-5, 10-50, 60-75.
  CHECK(result->idle_us == 40);
  CHECK(result->overlap_us == 10);
  REQUIRE(result->allreduce);
  CHECK(result->allreduce->count == 11);
  CHECK(result->allreduce->p90_us == 30);
  CHECK(result->groups.size() == 4);
  const auto few = compose(twelve_steps(), rules_of(kRules), {std::nullopt, 5, 8});
  REQUIRE_FALSE(few);
  CHECK(few.error().code == Errc::kInconclusive);
}

TEST_CASE("what runs on from the step before is not idle time") {
  TraceBuilder builder;
  for (int i = 0; i < 10; ++i) {
    builder.kernel("sampler", 100.0 * i, 10).kernel("long", 100.0 * i + 50, 70, 9);
  }
  const auto result = compose(builder.recording(), rules_of(kRules), {std::nullopt, 1, 8});
  REQUIRE(result);
  // Covered: 0-20 (the last 20 of "long" and the sampler), 50-100.
  CHECK(result->idle_us == 30);
}

TEST_CASE("tail: what starts after the last expert kernel") {
  const auto tail = split_tail(twelve_steps(), rules_of(kRules), {std::nullopt, 0, 8});
  REQUIRE(tail);
  CHECK(tail->forward_us == 30);
  CHECK(tail->tail_us == 70);
  CHECK(tail->tail_busy_pct == Approx(100.0 * 15 / 70));
  REQUIRE(tail->kernels.size() == 2);
  CHECK(tail->kernels[0].group == "head");
  CHECK(tail->kernels[0].us == 10);
}

TEST_CASE("the order of the events in the file changes nothing; nested and zero-length kernels count once") {
  struct Kernel {
    const char* name;
    double ts, dur;
    int stream;
  };
  // 0-40 with 10-20 inside it on the same stream, nothing at 25, and beside it 30-50; then the next sampler.
  std::vector<Kernel> kernels;
  for (int i = 0; i < 10; ++i) {
    const double t = 100.0 * i;
    for (const Kernel& k : {Kernel{"sampler", t, 0, 7}, Kernel{"outer", t, 40, 7}, Kernel{"inner", t + 10, 10, 7},
                            Kernel{"none", t + 25, 0, 7}, Kernel{"beside", t + 30, 20, 9}}) {
      kernels.push_back(k);
    }
  }
  const auto composed = [&kernels] {
    TraceBuilder builder;
    for (const Kernel& k : kernels) builder.kernel(k.name, k.ts, k.dur, k.stream);
    const auto result =
        compose(builder.recording(), rules_of("group all r\nstep kernel sampler"), {std::nullopt, 0, 8});
    REQUIRE(result);
    return *result;
  };
  const Composition forwards = composed();
  std::reverse(kernels.begin(), kernels.end());
  const Composition backwards = composed();
  for (const Composition& result : {forwards, backwards}) {
    CHECK(result.steps == 9);
    CHECK(result.span_us == 100);
    CHECK(result.idle_us == 50);
    CHECK(result.overlap_us == 20);
  }
}

TEST_CASE("followers stay on their stream") {
  TraceBuilder builder;
  builder.kernel("topk", 0, 2).kernel("elsewhere", 3, 1, 9).kernel("next", 4, 1).kernel("after", 6, 1);
  builder.kernel("topk", 10, 2).kernel("next", 15, 1);
  const auto rows = followers(builder.recording(), "^TOPK$", 2);
  REQUIRE(rows);
  REQUIRE(rows->size() == 2);
  CHECK((*rows)[0].name == "next");
  CHECK((*rows)[0].count == 2);
  CHECK((*rows)[0].median_gap_us == 2.5);
  CHECK((*rows)[1].distance == 2);
  CHECK((*rows)[1].name == "after");
  CHECK(followers(builder.recording(), "(", 1).error().code == Errc::kUsage);
}

TEST_CASE("gaps of the main stream, and what ran elsewhere in them") {
  TraceBuilder builder;
  builder.kernel("void ns::a<int>(x)", 0, 10)
      .kernel("b", 10.05, 10)
      .kernel("c", 40.05, 10)
      .kernel("side", 25.05, 30, 9);
  const Gaps gaps = find_gaps(builder.recording(), 3);
  CHECK(gaps.main_stream == "0:7");
  CHECK(gaps.count == 1);  // 50 ns is no gap
  REQUIRE(gaps.largest.size() == 1);
  CHECK(gaps.largest[0].us == 20);
  CHECK(gaps.largest[0].filled_pct == 75);
  CHECK(gaps.largest[0].others == std::vector<std::string>{"side"});
  CHECK(short_name("void ns::a<f<int>>(x)") == "ns::a");
  CHECK(short_name("(anonymous namespace)::k<1>(int)") == "(anonymous)::k");
}

TEST_CASE("a kernel that runs on past the next one of its stream leaves no gap") {
  test::TraceBuilder builder;
  builder.kernel("long", 0, 100).kernel("short", 10, 10).kernel("late", 50, 10).kernel("after", 130.001, 1.0 / 3);
  builder.kernel("last", 131, 1);
  const Gaps gaps = find_gaps(builder.recording(), 3);
  REQUIRE(gaps.count == 2);
  CHECK(gaps.sum_us == 30.667);  // 30.001 and 0.666, to the nanosecond
  CHECK(gaps.largest[0].previous == "long");
  CHECK(gaps.largest[0].us == 30.001);
}

TEST_CASE("ranks that nobody waits for have no straggler") {
  test::TraceBuilder builder;
  builder.kernel("all_reduce", 0, 5).kernel("all_reduce", 10, 5).kernel("all_reduce", 20, 0.1);
  const auto rules = parse_rules(default_rules_text(), "");
  REQUIRE(rules);
  std::vector<Recording> recordings;
  recordings.push_back(builder.recording());
  recordings.push_back(builder.recording());
  const Ranks same = compare_ranks(recordings, *rules, 1);
  CHECK(same.compared == 2);
  CHECK_FALSE(same.straggler);
  CHECK(same.reason.find("no rank waited") == 0);
  test::TraceBuilder other;
  other.kernel("all_reduce", 0, 5).kernel("all_reduce", 10, 5.1).kernel("all_reduce", 20, 0.3);
  recordings.back() = other.recording();
  const Ranks ranks = compare_ranks(recordings, *rules, 1);
  CHECK(ranks.straggler == 0);
  CHECK(ranks.ranks[1].waited_us == 0.3);  // 0.1 and 0.2 in binary are more
  CHECK(ranks.ranks[1].collective_us == 10.4);
}

TEST_CASE("expressions end soon, also those that go back and forth") {
  test::TraceBuilder builder;
  builder.kernel(std::string(3000, 'a'), 0, 1).kernel("next", 2, 1);
  const Recording recording = builder.recording();
  for (const char* regex : {"(.+.+)+QQ", "(.*)*x{3}zz", "(a|b|ab)*#", "^a+$"}) {
    CAPTURE(regex);
    const auto rows = followers(recording, regex, 1);
    REQUIRE(rows);
    CHECK(rows->size() == (std::string(regex) == "^a+$" ? 1 : 0));
  }
  CHECK_FALSE(followers(recording, "(a)\\1", 1));
}

TEST_CASE("the rank that is shortest in a collective came last") {
  std::vector<Recording> recordings;
  recordings.push_back(twelve_steps(30));
  recordings.push_back(twelve_steps(12));
  recordings.push_back(twelve_steps(20));
  const Ranks ranks = compare_ranks(recordings, rules_of(kRules), 0);
  CHECK(ranks.compared == 12);
  CHECK(ranks.straggler == 1);
  CHECK(ranks.ranks[1].last == 12);
  CHECK(ranks.ranks[1].waited_us == 0);
  CHECK(ranks.ranks[0].waited_for_us == std::vector<double>{0, 216, 0});
  CHECK(ranks.ranks[2].waited_us == Approx(96));
  CHECK(compare_ranks(recordings, rules_of(kRules), 5).compared == 7);
  CHECK(compare_ranks(recordings, rules_of(kRules), 12).reason == "of 12 collectives the first 12 are left out");
  recordings.push_back(TraceBuilder().kernel("allreduce", 0, 1).recording());
  const Ranks odd = compare_ranks(recordings, rules_of(kRules), 0);
  CHECK_FALSE(odd.straggler);
  CHECK(odd.reason.find("12 collectives") != std::string::npos);
}

TEST_CASE("an NCCL fingerprint sees the rings, not the process") {
  const std::string one =
      "node:17:44 [0] NCCL INFO Channel 00/04 : 0 1 2 3\nnode:17:44 [0] NCCL INFO Using network IB\nnoise\n"
      "node:17:44 [0] NCCL INFO comm 0x55aa nranks 4 pid 17 busId 1000\nnode:17:44 [0] NCCL INFO unrelated\n"
      "node:17:44 [0] NCCL INFO Ring 00 : 3 -> 0 -> 1 via NET/IB/0/GDRDMA [17]\n";
  std::string two = one;
  for (std::size_t at; (at = two.find("17")) != std::string::npos;) two.replace(at, 2, "99");
  two.replace(two.find("55aa"), 4, "77bb");
  const NcclFingerprint a = nccl_fingerprint(one), b = nccl_fingerprint(two);
  CHECK(a.lines == 4);
  CHECK(a.rings == 1);
  CHECK(a.network == 2);
  CHECK(a.digest.size() == 16);
  CHECK(a.digest == b.digest);
  std::string other = one;
  other.replace(other.find("3 -> 0"), 6, "2 -> 0");
  CHECK(nccl_fingerprint(other).digest != a.digest);
  CHECK(nccl_fingerprint("nothing").digest.empty());
  const NcclFingerprint here = nccl_fingerprint("NCCL INFO Using network eth0:192.168.1.5<43211>");
  CHECK(here.network_lines.front() == "Using network eth0:A:N");
  CHECK(here.digest == nccl_fingerprint("NCCL INFO Using network eth0:10.0.0.17<5>").digest);
}
