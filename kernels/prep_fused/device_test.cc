#include <cstring>
#include <memory>

#include "common/device_test_support.h"
#include "prep_fused/prep_fused.h"
#include "prep_fused/reference.h"

namespace bk::kernels {
namespace {

struct Outputs {
  Outputs(int requests, int query, int width)
      : slots(static_cast<std::size_t>(requests) * query),
        block_table(static_cast<std::size_t>(requests) * width),
        seq_lens(requests),
        token_seq_lens(slots.read().size()),
        token_rows(slots.read().size()),
        block_counts(requests) {}
  DeviceArray<std::int64_t> slots;
  DeviceArray<std::int32_t> block_table, seq_lens, token_seq_lens, token_rows, block_counts;
};

std::vector<GroupShape> seven_groups() {
  return {{64, 1, 40, {}}, {64, 4, 12, {}}, {16, 128, 4, {}}, {256, 1, 10, {}},
          {64, 1, 40, {}}, {8, 4, 80, {}},  {4, 1, 640, {}}};
}

PrepStep random_step(Draw& draw, int live, int padded, int query, const std::vector<GroupShape>& groups) {
  PrepStep step;
  step.padded = padded;
  step.query = query;
  for (int r = 0; r < live; ++r) {
    PrepRequest request;
    request.computed = static_cast<int>(draw.engine()() % static_cast<unsigned>(2500 - query));
    for (const GroupShape& group : groups) {
      std::vector<std::int32_t> blocks(static_cast<std::size_t>(probe_blocks(request.computed + query, group)));
      for (std::int32_t& block : blocks) block = static_cast<std::int32_t>(draw.engine()() % 100000);
      request.blocks.push_back(std::move(blocks));
    }
    step.requests.push_back(std::move(request));
  }
  return step;
}

template <class T>
void check_tensor(const PrepTensor& want, const DeviceArray<T>& got) {
  INFO(want.name);
  const std::vector<T> values = got.read();
  CHECK(std::vector<std::int64_t>(values.begin(), values.end()) == want.values);
}

TEST_CASE("prep_fused writes the 46 tensors of random steps, number for number") {
  Draw draw;
  const std::vector<GroupShape> groups = seven_groups();
  const int shapes[][3] = {{1, 1, 8},   {1, 1, 1}, {4, 4, 8},      {3, 8, 4},
                           {32, 32, 8}, {0, 2, 2}, {200, 256, 16}, {5, 5, 64}};
  for (const auto& [live, padded, query] : shapes) {
    INFO("seed " << draw.seed() << " live " << live << " padded " << padded << " query " << query);
    const PrepStep step = random_step(draw, live, padded, query, groups);
    REQUIRE(refuse_step(step, groups).empty());
    const std::vector<std::int32_t> words = pack_step(step, groups);
    void* staging = nullptr;
    REQUIRE(cudaMallocHost(&staging, words.size() * 4) == cudaSuccess);
    std::memcpy(staging, words.data(), words.size() * 4);
    const DeviceArray<std::int32_t> packed(words.size());
    const auto tokens = static_cast<std::size_t>(padded) * query;
    const DeviceArray<std::int64_t> positions(tokens);
    const DeviceArray<std::int32_t> seq_lens(padded), query_start(static_cast<std::size_t>(padded) + 1),
        logits_index(tokens);
    BkPrep job{};
    job.staging = staging;
    job.packed = packed.get();
    job.bytes = static_cast<std::int64_t>(words.size()) * 4;
    job.positions = positions.get();
    job.seq_lens = seq_lens.get();
    job.query_start = query_start.get();
    job.logits_index = logits_index.get();
    job.groups = static_cast<int>(groups.size());
    job.requests = padded;
    job.query = query;
    std::vector<std::unique_ptr<Outputs>> outputs;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      outputs.push_back(std::make_unique<Outputs>(padded, query, groups[g].width));
      Outputs& out = *outputs.back();
      job.group[g] = {out.block_table.get(),    out.slots.get(),      out.seq_lens.get(),
                      out.token_seq_lens.get(), out.token_rows.get(), out.block_counts.get(),
                      groups[g].block_size,     groups[g].ratio,      groups[g].width};
    }
    REQUIRE(bk_prep_fused(&job, nullptr) == BK_KERNEL_OK);
    const std::vector<PrepTensor> want = reference_prep(step, groups);
    check_tensor(want[0], positions);
    check_tensor(want[1], seq_lens);
    check_tensor(want[2], query_start);
    check_tensor(want[3], logits_index);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const PrepTensor* of_group = &want[4 + g * 6];
      check_tensor(of_group[0], outputs[g]->block_table);
      check_tensor(of_group[1], outputs[g]->slots);
      check_tensor(of_group[2], outputs[g]->seq_lens);
      check_tensor(of_group[3], outputs[g]->token_seq_lens);
      check_tensor(of_group[4], outputs[g]->token_rows);
      check_tensor(of_group[5], outputs[g]->block_counts);
    }
    job.query = 6;
    CHECK(bk_prep_fused(&job, nullptr) == BK_KERNEL_BAD_SHAPE);
    job.query = query;
    job.group[2].slots = nullptr;
    CHECK(bk_prep_fused(&job, nullptr) == BK_KERNEL_BAD_ARGUMENT);
    cudaFreeHost(staging);
  }
}

}  // namespace
}  // namespace bk::kernels
