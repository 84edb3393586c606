#include "audit.h"

#include <catch2/catch.hpp>

#include "base/json.h"
#include "lane_fixture.h"

namespace bk::overlay {
namespace {

/// A folder with every sample good, except the one at `broken`.
void write_samples(const TempDir& dir, std::size_t broken) {
  const auto samples = guard_samples();
  std::map<std::string, std::string> files;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    files[samples[i].file] += i == broken ? samples[i].broken : samples[i].good;
  }
  for (const auto& [name, text] : files) {
    const auto path = dir.path() / "layers" / name;
    REQUIRE(make_directories(path.parent_path()));
    REQUIRE(write_file_atomic(path, text));
  }
}

TEST_CASE("the audit knows its rules") {
  CHECK(guard_rules().size() == 7);
  CHECK(audit_self_test());
  CHECK(overlay_program({"audit", "--self-test"}).code == 0);
}

TEST_CASE("good sources pass, each broken guard fails alone, a missing file is unknown and never a pass") {
  const std::size_t count = guard_samples().size();
  for (std::size_t broken = 0; broken <= count; ++broken) {
    const TempDir dir;
    write_samples(dir, broken);
    const Ran ran = overlay_program({"audit", "--root", dir.path().string(), "--json"});
    CHECK(ran.code == (broken < count ? 1 : 0));
    const auto json = parse_json(ran.out);
    REQUIRE(json);
    for (const Json& rule : (*json)["rules"].items()) {
      const bool fails = broken < count && rule["rule"].as_string() == guard_samples()[broken].rule;
      CAPTURE(*rule["rule"].as_string(), *rule["why"].as_string());
      CHECK(rule["status"].as_string() == (fails ? "FAIL" : "PASS"));
      CHECK(rule["file"].as_string()->starts_with("layers/"));
    }
  }
  const TempDir dir;
  write_samples(dir, count);
  REQUIRE(std::filesystem::remove(dir.path() / "layers/sample/gumbel.py"));
  const Ran unknown = overlay_program({"audit", "--root", dir.path().string()});
  CHECK(unknown.code == 4);
  CHECK(unknown.out.find("UNKNOWN") != std::string::npos);
  write_samples(dir, 1);
  REQUIRE(std::filesystem::remove(dir.path() / "layers/sample/gumbel.py"));
  CHECK(overlay_program({"audit", "--root", dir.path().string()}).code == 1);
  CHECK(overlay_program({"audit"}).code == 2);
  CHECK(overlay_program({"audit", "--root", (dir.path() / "none").string()}).code == 2);
}

Finding finding_of(const std::string& rule, const Sources& sources) {
  for (const Finding& finding : audit(sources)) {
    if (finding.rule == rule) return finding;
  }
  FAIL("no rule " << rule);
  return {};
}

TEST_CASE("each requirement of each rule fails its rule when it is not met, however it is written") {
  struct Case {
    std::string rule, path;
    std::vector<std::string> needed;  // each on its own makes the rule fail when it is gone
    std::vector<std::string> too_weak;
  };
  const std::string clamp = "a = tl.minimum(token_idx, vocab_size - 1)\n";
  const std::string lower = "  m = expert_ids >= 0\n", upper = "  n = expert_ids < global_num_experts\n";
  const std::string length = "  g = expert_map.numel()\n";
  const Case kCases[] = {
      {"sampler.gumbel", "v1/sample/gumbel.py", {clamp}, {"a = tl.minimum(token_idx, vocab_size)\n"}},
      {"sampler.spec_decode", "rejection_sampler_utils.py", {clamp, "b = min(max_index, vocab_size-1)\n"}, {}},
      {"hash_moe.token_table",
       "topk_softplus_sqrt_kernels.cu",
       {"if (token >= 0 && token < num_rows) a();\n", "if (token_id >= 0 && token_id < table_size) b();\n",
        "auto n = tid2eid.size(0);\n"},
       {"if (token < num_rows) a();\n"}},
      {"expert_map.cuda_sum",
       "moe_align_sum_kernels.cu",
       {"if (expert_id < 0 || expert_id >= num_experts) continue;\n", "n = expert_map->size(0);\n"},
       {"if (expert_id >= num_experts) continue;\n"}},
      {"expert_map.triton_sum", "moe_fused_mul_sum.py", {lower, upper, length}, {"  m = expert_ids > -2\n"}},
      {"expert_map.count", "fused_moe/utils.py", {lower, upper, length}, {}},
      {"expert_map.swiglu", "fused_moe/utils.py", {lower, upper, length}, {}},
  };
  for (const Case& each : kCases) {
    const std::string head = each.rule.ends_with("count")    ? "def _count_tokens():\n"
                             : each.rule.ends_with("swiglu") ? "def swiglu_func():\n"
                                                             : "";
    const bool python = each.path.ends_with(".py");
    const auto with = [&](std::size_t left_out, const std::string& more) {
      std::string text = head;
      for (std::size_t i = 0; i < each.needed.size(); ++i) text += i == left_out ? "" : each.needed[i];
      return finding_of(each.rule, {{each.path, text + more}}).guard;
    };
    CAPTURE(each.rule);
    CHECK(with(each.needed.size(), "") == Guard::kPass);
    for (std::size_t i = 0; i < each.needed.size(); ++i) {
      const std::string& line = each.needed[i];
      CAPTURE(line);
      CHECK(with(i, "") == Guard::kFail);
      CHECK(with(i, line) == Guard::kPass);
      CHECK(with(i, (python ? "# " : "// ") + line) == Guard::kFail);
      CHECK(with(i, python ? "'''\n" + line + "'''\n" : "/*\n" + line + "*/\n") == Guard::kFail);
      if (!python) CHECK(with(i, "#if 0\n#ifdef X\n#else\n#endif\n" + line + "#endif\n") == Guard::kFail);
      if (!python) CHECK(with(i, "#if 0\n#else\n" + line + "#endif\n") == Guard::kPass);
      if (!head.empty()) CHECK(with(i, "def other():\n" + line) == Guard::kFail);
      if (!head.empty()) CHECK(with(i, "def other():\n  x\n" + head + line) == Guard::kPass);
    }
    for (const std::string& weak : each.too_weak) CHECK(with(0, weak) == Guard::kFail);
  }
  CHECK(finding_of("sampler.gumbel", {{"sample/gumbel.py", "n = a // b; " + clamp}}).guard == Guard::kPass);
}

TEST_CASE("another package's file of the same name is none of the rule, and of two copies both have to pass") {
  const std::string clamp = "a = tl.minimum(token_idx, vocab_size - 1)\n";
  CHECK(finding_of("sampler.gumbel", {{"torch/distributions/gumbel.py", clamp}}).guard == Guard::kUnknown);
  CHECK(finding_of("sampler.gumbel", {{"a/sample/gumbel.py", clamp}, {"torch/distributions/gumbel.py", "x"}}).guard ==
        Guard::kPass);
  const Finding two = finding_of("sampler.gumbel", {{"a/sample/gumbel.py", clamp}, {"b/sample/gumbel.py", "x = 1\n"}});
  CHECK(two.guard == Guard::kFail);
  CHECK(two.file == "b/sample/gumbel.py");
  CHECK(two.why.ends_with("(2 copies)"));
  // Two half guarded copies make no whole one.
  CHECK(finding_of("sampler.spec_decode",
                   {{"a/rejection_sampler_utils.py", clamp}, {"b/rejection_sampler_utils.py", clamp}})
            .guard == Guard::kFail);
  // The newest name that is there counts.
  CHECK(finding_of("sampler.spec_decode",
                   {{"a/rejection_sampler.py", clamp}, {"a/rejection_sampler_utils.py", clamp + clamp}})
            .guard == Guard::kPass);
  CHECK(finding_of("expert_map.count", {{"fused_moe/utils.py", "x = 1\n"}}).guard == Guard::kFail);
  CHECK(finding_of("expert_map.count", {{"transformers/utils.py", "def count():\n"}}).guard == Guard::kUnknown);
}

}  // namespace
}  // namespace bk::overlay
