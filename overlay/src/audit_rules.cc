#include "audit.h"

namespace bk::overlay {
namespace {

// Patterns run over text without blanks beside signs; names are matched by what they must hold, not by whole words.
constexpr const char* kClamp =
    R"(minimum\(\w*(?:arg|idx|index|token)\w*,vocab_size-1\)|min\(\w*(?:arg|idx|index|token)\w*,vocab_size-1\))";
constexpr const char* kTokenBound = R"(\w*token\w*>=0&&\w*token\w*<\w*(?:rows|num_tokens|table_size)\w*)";
constexpr const char* kTableRows = R"((?:table|tid2eid)\w*(?:\.|->)size\(0\))";
constexpr const char* kExpertReject = R"(\w*expert\w*<0\|\|\w*expert\w*>=\w*num_experts\w*)";
constexpr const char* kMapLength = R"(expert_map\w*(?:\.value\(\))?(?:\.|->)(?:size\(0\)|numel\(\)|shape\[0\]))";
constexpr const char* kLowerMask = R"(\w*expert\w*>=0)";
constexpr const char* kUpperMask =
    R"(\w*expert\w*<\w*(?:num_experts|global_num_experts|map_len|map_size|map_length)\w*)";

std::vector<Requirement> masks() {
  return {{"a lower bound on the expert", kLowerMask, 1},
          {"an upper bound on the expert", kUpperMask, 1},
          {"the length of the expert map", kMapLength, 1}};
}

}  // namespace

const std::vector<GuardRule>& guard_rules() {
  static const std::vector<GuardRule> kRules = {
      {"sampler.gumbel", {"gumbel.py"}, "sample", "", {{"the tile's argmax clamped to vocab_size-1", kClamp, 1}}},
      {"sampler.spec_decode",
       {"rejection_sampler_utils.py", "rejection_sampler.py"},
       "",
       "",
       {{"the tile's argmax clamped to vocab_size-1", kClamp, 2}}},
      {"hash_moe.token_table",
       {"topk_softplus_sqrt_kernels.cu"},
       "",
       "",
       {{"0 <= token < rows of the table", kTokenBound, 2}, {"rows taken from the table's size(0)", kTableRows, 1}}},
      {"expert_map.cuda_sum",
       {"moe_align_sum_kernels.cu"},
       "",
       "",
       {{"an expert below 0 or above the count refused", kExpertReject, 1},
        {"the count taken from the map's length", kMapLength, 1}}},
      {"expert_map.triton_sum", {"moe_fused_mul_sum.py", "fused_mul_sum.py"}, "", "", masks()},
      {"expert_map.count", {"utils.py"}, "moe", "count", masks()},
      {"expert_map.swiglu", {"utils.py"}, "moe", "swiglu", masks()},
  };
  return kRules;
}

std::vector<GuardSample> guard_samples() {
  const std::string clamp = "token_idx = tl.minimum(\n    max_idx , vocab_size - 1 )\n";
  const std::string bound = "if (token_id >= 0 &&\n    token_id < table_rows) {}\n";
  const std::string rows = "int table_rows = table.size(0);\n";
  const std::string mask = "  ok = (expert_id >= 0) & (expert_id < num_experts)\n";
  const std::string length = "  num_experts = expert_map.shape[0]\n";
  return {
      {"sampler.gumbel", "sample/gumbel.py", clamp, "\"\"\"\n" + clamp + "\"\"\"\n"},
      {"sampler.spec_decode", "spec_decode/rejection_sampler_utils.py", clamp + clamp, clamp + "# " + clamp},
      {"hash_moe.token_table", "topk_softplus_sqrt_kernels.cu", bound + bound + rows,
       bound + "/* " + bound + " */\n" + rows},
      {"expert_map.cuda_sum", "moe_align_sum_kernels.cu",
       "if (expert_id < 0 || expert_id >= num_experts) return;\nint n = expert_map.size(0);\n",
       "if (expert_id >= num_experts) return;\nint n = expert_map.size(0);\n"},
      {"expert_map.triton_sum", "fused_moe/moe_fused_mul_sum.py", "def f():\n" + mask + length, "def f():\n" + mask},
      {"expert_map.count", "fused_moe/utils.py", "def count_tokens():\n" + mask + length,
       "def count_tokens():\n" + length},
      {"expert_map.swiglu", "fused_moe/utils.py", "def swiglu_limit():\n" + mask + length,
       "def swiglu_limit():\n" + mask},
  };
}

}  // namespace bk::overlay
