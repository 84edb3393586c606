#include "boot/profile.h"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/text.h"
#include "boot/arm.h"
#include "findings.h"
#include "run.h"
#include "support/run_in_process.h"

namespace bk::profile_tool {
namespace {

const std::string kRoot = BK_SOURCE_DIR;

test::Ran profile(const cli::Args& args) { return test::run_in_process("profile", run, args); }

boot::Profile shipped(const std::string& name) {
  auto loaded = boot::load_profile(name, kRoot + "/profiles", {});
  INFO((loaded ? std::string() : loaded.error().text()));
  REQUIRE(loaded);
  return *loaded;
}

std::string refused(const std::string& lane, const boot::KnobMap& knobs) {
  const auto arm = boot::make_arm(shipped(lane), "cand", knobs);
  INFO(lane << " " << boot::format_knobs(knobs));
  REQUIRE_FALSE(arm);
  CHECK(arm.error().code == Errc::kUsage);
  return arm.error().text();
}

Findings examined(const std::string& text) {
  const auto parsed = boot::parse_profile(text, "p.env", {});
  INFO((parsed ? std::string() : parsed.error().text()));
  REQUIRE(parsed);
  return examine(*parsed, "/x", "/x/overlay/modules");
}

}  // namespace

TEST_CASE("every shipped profile passes profile check, without a warning") {
  setenv("BK_PROFILES", (kRoot + "/profiles").c_str(), 1);
  const auto ran = profile({"check", "--json"});
  INFO(ran.out << ran.err);
  CHECK(ran.code == 0);
  const auto json = parse_json(ran.out);
  REQUIRE(json);
  CHECK((*json)["profiles"].items().size() >= 9);
  for (const Json& each : (*json)["profiles"].items()) {
    CHECK(each["ok"].as_bool() == true);
    CHECK(each["warnings"].items().empty());
  }
  for (const char* lane :
       {"sim", "llama-cpp", "vllm", "vllm-h200", "vllm-h200-kernels", "dsv4", "dsv4-kernels", "glm53", "qwen38"})
    shipped(lane);
}

TEST_CASE("what a lane's launcher refused, its profile refuses with the same reason") {
  struct Row {
    const char* lane;
    boot::KnobMap knobs;
    const char* why;
  };
  for (const Row& row : {
           Row{"dsv4", {{"FP8HEAD", "2"}}, "FP8HEAD takes one of 0, 1"},
           Row{"dsv4", {{"REFINE", "yes"}}, "REFINE takes one of 0, 1"},
           Row{"dsv4", {{"V2RUNNER", ""}}, "V2RUNNER takes one of 0, 1"},
           Row{"dsv4", {{"DSPARK_IMPL", "other"}}, "DSPARK_IMPL takes one of fork, upstream"},
           Row{"dsv4", {{"MARKOV_TOPK", "-1"}}, "a whole number from 0 to 129280"},
           Row{"dsv4", {{"MARKOV_TOPK", "0512"}}, "a whole number from 0 to 129280"},
           Row{"dsv4", {{"MARKOV_TOPK", "129281"}}, "a whole number from 0 to 129280"},
           Row{"dsv4", {{"MARKOV_TOPK", "99999999999999999999999"}}, "a whole number from 0 to 129280"},
           Row{"dsv4", {{"MARKOV_TOPK", "x"}}, "a whole number from 0 to 129280"},
           Row{"dsv4", {{"MARKOV_SIDELOAD", "models/m.safetensors"}}, "a path below /models"},
           Row{"dsv4", {{"MARKOV_SIDELOAD", "/models/../etc/passwd"}}, "a path below /models"},
           Row{"dsv4", {{"MARKOV_SIDELOAD", "/models/a;b"}}, "a path below /models"},
           Row{"dsv4", {{"FP8HEAD", "1"}, {"V2RUNNER", "0"}}, "only that runner reads it"},
           Row{"dsv4", {{"FP8HEAD", "1"}, {"DSPARK_IMPL", "fork"}}, "the fork does not know it"},
           Row{"dsv4", {{"FP8HEAD", "1"}, {"LMHEAD_FP8", "1"}}, "exactly one fp8 copy"},
           Row{"dsv4", {{"MARKOV_TOPK", "512"}}, "MARKOV_W2 = replicated does not hold"},
           Row{"dsv4", {{"MARKOV_TOPK", "512"}, {"MARKOV_W2", "replicated"}, {"V2RUNNER", "0"}}, "only that runner"},
           Row{"dsv4", {{"REFINE", "1"}, {"DSPARK_IMPL", "fork"}}, "the fork does not know it"},
           Row{"dsv4", {{"MARKOV_SIDELOAD", "/models/m"}, {"V2RUNNER", "0"}}, "only that runner loads it"},
           Row{"dsv4", {{"MAX_NUM_SEQS", "64"}}, "GRAPH_CAP=256, MAX_NUM_SEQS=64, SPEC_TOKENS=5"},
           Row{"dsv4", {{"SPEC_TOKENS", "8"}}, "a whole number from 1 to 7"},
           Row{"dsv4", {{"GATE_FUSE", "1"}}, "did you mean GATEFUSE?"},
           Row{"glm53", {{"EARLY_FC", "1"}, {"DRAFTER_W4", "0"}}, "its gain of 0.3 ms exists only there"},
           Row{"glm53", {{"PREP_FUSED", "shadow"}}, "it rides on the fused preparation"},
           Row{"glm53", {{"AR_PREFETCH", "1"}, {"MK_PDL", "0"}}, "it starts in the gap"},
           Row{"vllm-h200", {{"GATEFUSE", "2"}}, "GATEFUSE takes one of 0, 1"},
           Row{"vllm-h200-kernels", {{"ONESHOT", "1"}}, "one GPU has nobody to sum with"},
           Row{"vllm-h200-kernels", {{"PREP_FUSED", "1"}}, "PREP_FUSED takes one of off, shadow, on"},
           Row{"vllm-h200-kernels", {{"PREP_FUSED", "on"}, {"SPEC", "ngram"}}, "a power of two of tokens"},
           Row{"vllm-h200-kernels", {{"TP", "3"}}, "TP takes one of 1, 2, 4, 8"},
           Row{"dsv4-kernels", {{"MARKOV_TOPK", "64"}}, "MARKOV_TOPK takes one of 0, 512"},
           Row{"dsv4-kernels", {{"MARKOV_TOPK", "512"}, {"SPEC", "none"}}, "the bias is the drafter's"},
           Row{"dsv4-kernels", {{"FP8HEAD", "1"}, {"SPEC", "none"}}, "only a drafter's head is copied"},
           Row{"dsv4-kernels", {{"ONESHOT", "1"}, {"TP", "1"}}, "one GPU has nobody to sum with"},
       }) {
    CHECK_THAT(refused(row.lane, row.knobs), Catch::Contains(row.why));
  }
}

TEST_CASE("a lane's knobs reach the engine as it reads them, and its defaults are those of production") {
  const boot::Profile dsv4 = shipped("dsv4");
  const auto arm = boot::make_arm(dsv4, "cand", {{"MARKOV_TOPK", "512"}, {"MARKOV_W2", "replicated"}});
  REQUIRE(arm);
  boot::BootVariables variables;
  variables.port = 8000;
  variables.node_count = 4;
  const auto command = boot::resolve_command(dsv4, *arm, variables);
  REQUIRE(command);
  const std::string line = join(command->argv, " ");
  for (const char* words :
       {"--port 8000", "--max-model-len 430000", "--max-num-batched-tokens 4096", "--max-num-seqs 32",
        "--gpu-memory-utilization 0.60", "--block-size 256", "--kv-cache-dtype fp8", "--async-scheduling",
        "--enable-chunked-prefill", "--enable-prefix-caching", "--speculative-config.num_speculative_tokens 5",
        "--override-generation-config {\"temperature\":0.8}", "--max-cudagraph-capture-size 256",
        "--nnodes 4 --node-rank 0"}) {
    CHECK_THAT(line, Catch::Contains(words));
  }
  CHECK(command->env.at("MARKOV_TOPK") == "512");
  CHECK(command->env.at("DSPARK_IMPL") == "upstream");
  CHECK(command->env.at("VLLM_USE_V2_MODEL_RUNNER") == "1");
  CHECK_FALSE(command->env.contains("MARKOV_SIDELOAD"));
  CHECK(dsv4.served_model == "deepseek-v4-flash");
  CHECK(dsv4.max_model_len == 430000);
}

TEST_CASE("profile check names what would disappoint, and shows it in its exit code") {
  CHECK(examined("COMMAND=x\nK=1\nK.values='0 1'\nK.env=K\nK.proof='log: k={VALUE}'\nK.help=h\n").warnings.empty());
  const auto unproved = examined("COMMAND=x\nK=1\nK.values='0 1'\nK.env=K\n");
  CHECK(unproved.faults.empty());
  CHECK(unproved.warnings == std::vector<std::string>{"K has no proof: a bracket over it is void", "K has no help"});
  const auto half = examined("COMMAND=x\nK=1\nK.values='0 1'\nK.env=K\nK.help=h\nK.proof.1='log: on'\n");
  CHECK(half.warnings.size() == 1);
  const auto broken = examined("COMMAND=x\nK=1\nK.range=0..9\nK.env=K\nRULE.r='K > 5'\n");
  REQUIRE(broken.faults.size() == 1);
  CHECK_THAT(broken.faults[0], Catch::Contains("K > 5 does not hold with K=1"));
  const auto empty = examined("COMMAND='x --k {K}'\nK=\nK.values='0 1'\n");
  CHECK_THAT(join(empty.faults, "|"), Catch::Contains("{K} has no value"));
  const auto module = examined("COMMAND=x\nRUNTIME=namespace\nTARGET_PREFIX=/p\nMODULES=no-such-module\n");
  CHECK(module.faults.size() == 1);

  const TempDir dir;
  REQUIRE(write_file_atomic(dir.path() / "bad.env", "COMMAND=x\nCOMMAND=y\n"));
  const auto ran = profile({"check", (dir.path() / "bad.env").string()});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Catch::Contains("bad.env: refused") && Catch::Contains("COMMAND is set twice: rows 1 and 2"));
}

TEST_CASE("profile show says the value, who set it, and the command of a boot") {
  setenv("BK_PROFILES", (kRoot + "/profiles").c_str(), 1);
  const auto plain = profile({"show", "sim"});
  CHECK(plain.code == 0);
  CHECK_THAT(plain.out, Catch::Contains("GATEFUSE") && !Catch::Contains("command:"));
  setenv("IDXFREQ", "6", 1);
  const auto resolved = profile({"show", "--resolved", "sim", "--knobs", "GATEFUSE=1", "--json"});
  unsetenv("IDXFREQ");
  const auto json = parse_json(resolved.out);
  REQUIRE(json);
  for (const Json& knob : (*json)["knobs"].items()) {
    if (knob["knob"].as_string() == "GATEFUSE") CHECK(knob["from"].as_string() == "arm");
    if (knob["knob"].as_string() == "IDXFREQ") CHECK(knob["from"].as_string() == "environment");
    if (knob["knob"].as_string() == "REFINE") CHECK(knob["from"].as_string() == "profile");
  }
  CHECK_THAT((*json)["command"].dump(), Catch::Contains("GATEFUSE=1") && Catch::Contains("IDXFREQ=6"));
  const auto wrong = profile({"show", "sim", "--knobs", "GATEFUZE=1"});
  CHECK(wrong.code == 2);
  CHECK_THAT(wrong.err, Catch::Contains("did you mean GATEFUSE?"));
  CHECK(profile({"show", "simm"}).code == 2);
}

}  // namespace bk::profile_tool
