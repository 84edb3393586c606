#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <regex>

#include "base/file.h"
#include "trace/groups.h"

using namespace bk;
using namespace bk::trace;

namespace {

std::vector<std::string> cuda_sources() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(BK_SOURCE_DIR) + "/kernels")) {
    const std::string suffix = entry.path().extension();
    if (suffix == ".cu" || suffix == ".cuh") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Rules built_in() {
  auto rules = parse_rules(default_rules_text(), "built-in");
  REQUIRE(rules);
  return *rules;
}

}  // namespace

TEST_CASE("every kernel of kernels/ is ours and falls into a group") {
  const Rules rules = built_in();
  const std::regex declaration(R"(__global__[^;{]*?\bvoid\s+(\w+)\s*\()");
  int kernels = 0;
  for (const std::string& file : cuda_sources()) {
    const auto text = read_file(file);
    REQUIRE(text);
    std::ptrdiff_t found = 0;
    for (std::sregex_iterator match(text->begin(), text->end(), declaration), end; match != end; ++match) {
      ++found;
      const std::string name = (*match)[1];
      // As tracers write them: an instance of a template, one in an unnamed namespace, a plain function.
      for (const std::string& seen :
           {"void bk::kernels::(anonymous namespace)::" + name + "<4, 2, true>(BkMoeGate, int)",
            "void bk::kernels::" + name + "<2>(BkFp8Head)",
            "bk::kernels::(anonymous namespace)::" + name + "(BkFp8Quantise)"}) {
        CAPTURE(file, seen);
        CHECK(rules.is_ours(seen));
        CHECK(rules.groups[rules.group_of(seen, "kernel")].name != "other");
      }
    }
    std::ptrdiff_t marks = 0;
    for (std::size_t at = text->find("__global__"); at != std::string::npos; at = text->find("__global__", at + 1))
      ++marks;
    CAPTURE(file);
    CHECK(found == marks);
    kernels += static_cast<int>(found);
  }
  CHECK(kernels >= 7);
}

TEST_CASE("foreign kernels are not ours, and groups of the same name are one") {
  const Rules rules = built_in();
  for (const char* foreign : {"void at::native::unrolled<bk::kernels::router_kernel>(int)", "k_bk_moe_gate",
                              "void vllm::moe::topkGating<8>(bk::x)", "fused_moe_kernel"}) {
    CAPTURE(foreign);
    CHECK_FALSE(rules.is_ours(foreign));
  }
  CHECK(rules.is_ours("bk_moe_gate"));
  CHECK(rules.group_of("bk::kernels::(anonymous namespace)::router_kernel", "kernel") ==
        rules.group_of("fused_moe_kernel", "kernel"));
}

TEST_CASE("names of the wild fall into the groups that people mean") {
  const Rules rules = built_in();
  struct Case {
    const char* name;
    const char* group;
  };
  const Case cases[] = {{"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128", "attn"},
                        {"fmha_cutlassF_bf16_aligned_32x128_gmem_sm80(PyTorchMemEffAttention)", "attn"},
                        {"nvjet_sm90_tst_64x24_64x16_2x4_h_bz_TNT", "gemm"},
                        {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "comms"},
                        {"triton_red_fused_fused_add_rms_norm_1", "norm"},
                        {"memcpy32_post", "other"}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK(rules.groups[rules.group_of(c.name, "kernel")].name == c.group);
  }
}
