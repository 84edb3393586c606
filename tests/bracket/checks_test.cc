#include "bracket/checks.h"

#include <catch2/catch.hpp>

using namespace bk;
using namespace bk::bracket;
using stats::Arm;

namespace {

Plan gatefuse() {
  Plan plan;
  plan.knob = "GATEFUSE";
  plan.base_value = "0";
  plan.cand_value = "1";
  plan.base = {{"GATEFUSE", "0"}};
  plan.cand = {{"GATEFUSE", "1"}};
  return plan;
}

boot::Proof proof(const std::string& knob, const std::string& asked, std::optional<std::string> confirmed) {
  boot::Proof p;
  p.knob = knob;
  p.asked = asked;
  p.confirmed = std::move(confirmed);
  p.ok = p.confirmed == asked;
  p.reason = p.ok ? "" : p.confirmed ? "value_differs" : "no_evidence";
  return p;
}

BootEvidence boot_of(Arm arm, const std::string& gatefuse_value, const std::string& spec = "5",
                     const std::string& version = "1") {
  return {arm, {{"GATEFUSE", gatefuse_value}, {"SPEC", spec}}, version};
}

load::Sample good_sample() {
  load::Sample sample;
  sample.leg = "decode";
  sample.cell = "C=1";
  stream::RequestRecord request;
  request.usage = stream::Usage{};
  request.usage->prompt_tokens = 60;
  request.usage->cached_tokens = 16;  // a shared template
  sample.requests.push_back(request);
  return sample;
}

class Ignore final : public leg::Sink {
 public:
  Status sample(const load::Sample&) override { return {}; }
  Status gate(const leg::GateResult&) override { return {}; }
  void warn(const std::string&) override {}
  void progress(const std::string&, int, int) override {}
};

}  // namespace

TEST_CASE("the judged knob has to be shown by the running engine", "[bracket]") {
  struct Row {
    Arm arm;
    std::vector<boot::Proof> proofs;
    std::string reason;
  };
  const Row rows[] = {{Arm::kBase, {proof("GATEFUSE", "0", "0")}, ""},
                      {Arm::kCand, {proof("GATEFUSE", "1", "1")}, ""},
                      {Arm::kCand, {proof("GATEFUSE", "1", "0")}, "proof_failed"},
                      {Arm::kCand, {proof("GATEFUSE", "1", std::nullopt)}, "proof_failed"},
                      {Arm::kCand, {proof("SPEC", "5", "5")}, "proof_failed"},
                      {Arm::kBase, {proof("GATEFUSE", "0", "1")}, "base_equals_cand"},
                      {Arm::kBase, {proof("GATEFUSE", "0", "off")}, "proof_failed"}};
  for (const Row& row : rows) {
    const VoidCause cause = check_judged_proof(gatefuse(), row.arm, row.proofs);
    CAPTURE(cause.sentence);
    CHECK(cause.reason == row.reason);
  }
  CHECK_FALSE(check_other_proofs(gatefuse(), Arm::kBase, {proof("SPEC", "5", std::nullopt)}));
  CHECK(check_other_proofs(gatefuse(), Arm::kBase, {proof("SPEC", "5", "3")}).reason == "proof_failed");
}

TEST_CASE("boots differ in the judged knob and in nothing else", "[bracket]") {
  struct Row {
    std::vector<BootEvidence> boots;
    std::string reason;
  };
  const Row rows[] = {
      {{}, ""},
      {{boot_of(Arm::kBase, "0")}, ""},
      {{boot_of(Arm::kBase, "0"), boot_of(Arm::kCand, "1"), boot_of(Arm::kBase, "0")}, ""},
      {{boot_of(Arm::kBase, "0"), boot_of(Arm::kCand, "0")}, "base_equals_cand"},
      {{boot_of(Arm::kBase, "0"), boot_of(Arm::kCand, "1", "3")}, "two_knobs_differ"},
      {{boot_of(Arm::kBase, "0"), boot_of(Arm::kCand, "1"), boot_of(Arm::kBase, "0", "3")}, "two_knobs_differ"},
      {{boot_of(Arm::kBase, "0"), boot_of(Arm::kCand, "1"), boot_of(Arm::kBase, "0", "5", "2")}, "engine_changed"},
      {{boot_of(Arm::kBase, "0"), boot_of(Arm::kCand, "1", "5", ""), boot_of(Arm::kBase, "0")}, ""}};
  for (const Row& row : rows) {
    const VoidCause cause = check_boots(gatefuse(), row.boots);
    CAPTURE(cause.sentence, row.boots.size());
    CHECK(cause.reason == row.reason);
  }
}

TEST_CASE("a knob that only one arm has does not differ from it; within an arm it does", "[bracket]") {
  const BootEvidence without{Arm::kBase, {{"GATEFUSE", "0"}}, "1"};
  CHECK_FALSE(check_boots(gatefuse(), {without, boot_of(Arm::kCand, "1"), without}));
  CHECK(check_boots(gatefuse(), {without, boot_of(Arm::kCand, "1"), boot_of(Arm::kBase, "0")}).reason ==
        "two_knobs_differ");
}

TEST_CASE("a sample that may not be used names why", "[bracket]") {
  CHECK_FALSE(check_sample(good_sample()));
  load::Sample sample = good_sample();
  sample.requests[0].usage->cached_tokens = 48;
  CHECK(check_sample(sample).reason == "prefix_cache_hit");
  sample = good_sample();
  sample.requests[0].outcome = stream::Outcome::kCut;
  CHECK(check_sample(sample).reason == "failed_requests");
  for (const char* reason : {"engine_restarted", "counter_reset"}) {
    sample = good_sample();
    sample.acceptance.reason = reason;
    CHECK(check_sample(sample).reason == "engine_restarted");
  }
  sample = good_sample();
  sample.acceptance.reason = "no_drafts";  // an engine without a drafter is no fault
  CHECK_FALSE(check_sample(sample));
}

TEST_CASE("counters that begin anew between two samples void the leg", "[bracket]") {
  engine::Counters before;
  before.dialect = "vllm";
  before.series = {{"drafts{engine=0}", 40}, {"drafts{engine=1}", 50}};
  before.process_start_s = 1000;
  engine::Counters after = before;
  after.series["drafts{engine=0}"] = 90;
  CHECK_FALSE(check_counters("decode", before, after));
  CHECK_FALSE(check_counters("decode", std::nullopt, after));
  CHECK_FALSE(check_counters("decode", before, std::nullopt));

  after.series["drafts{engine=1}"] = 10;  // the sum of both still grew
  CHECK(check_counters("decode", before, after).reason == "engine_restarted");
  CHECK_THAT(check_counters("decode", before, after).sentence, Catch::Contains("drafts{engine=1}"));

  after = before;
  after.process_start_s = 1060;
  CHECK(check_counters("decode", before, after).sentence == "The engine's process began anew during decode.");
}

TEST_CASE("the first cause stops a leg and is kept", "[bracket]") {
  Ignore next;
  CheckingSink sink(next);
  CHECK(sink.sample(good_sample()));
  CHECK_FALSE(sink.cause());
  load::Sample bad = good_sample();
  bad.requests[0].outcome = stream::Outcome::kTimeout;
  const Status stopped = sink.sample(bad);
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().code == Errc::kVoid);
  CHECK(sink.cause().reason == "failed_requests");
}
