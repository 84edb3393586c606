#include <cmath>

#include "common/device_test_support.h"
#include "sparse_swa/reference.h"
#include "sparse_swa/sparse_swa.h"

namespace bk::kernels {
namespace {

std::vector<std::int32_t> random_blocks(Draw& draw, std::size_t count) {
  std::vector<std::int32_t> out(count);
  for (std::int32_t& block : out) block = static_cast<std::int32_t>(draw.engine()() % 10000);
  return out;
}

TEST_CASE("decode windows and draft lists are the reference's") {
  Draw draw;
  const int width = 20;
  const std::vector<std::int32_t> table = random_blocks(draw, 6 * width);
  const std::vector<std::int64_t> positions = {0, 5, 127, 128, 1279, 700, 3};
  const std::vector<std::int32_t> rows = {0, 1, 2, 3, 4, -1, 5};
  const DeviceArray<std::int64_t> dpositions(positions);
  const DeviceArray<std::int32_t> drows(rows), dtable(table), slots(7 * 128), lengths(7);
  const BkSwaDecode job{dpositions.get(), drows.get(), dtable.get(), slots.get(), lengths.get(), 7, width};
  REQUIRE(bk_swa_decode(&job, nullptr) == BK_KERNEL_OK);
  const std::vector<std::int32_t> got = slots.read();
  for (std::size_t t = 0; t < rows.size(); ++t) {
    INFO("token " << t);
    const auto blocks = std::span(table).subspan(static_cast<std::size_t>(std::max(rows[t], 0)) * width, width);
    SwaList want = reference_swa_decode(blocks, static_cast<int>(positions[t]));
    if (rows[t] < 0) want = {std::vector<std::int32_t>(128, -1), 0};
    CHECK(std::vector<std::int32_t>(got.begin() + t * 128, got.begin() + (t + 1) * 128) == want.slots);
    CHECK(lengths.read()[t] == want.length);
  }
  const std::vector<std::int32_t> prefix = {0, 100, 128, 1000, 40, 129}, seq_lens = {5, 105, 133, 1005, 0, 134};
  const DeviceArray<std::int32_t> dprefix(prefix), dlens(seq_lens), lists(6 * 512), list_lengths(6);
  const BkSwaDraft draft{dprefix.get(), dlens.get(), dtable.get(), lists.get(), list_lengths.get(), 6, width, 512};
  REQUIRE(bk_swa_draft(&draft, nullptr) == BK_KERNEL_OK);
  const std::vector<std::int32_t> shared = lists.read();
  for (std::size_t r = 0; r < 6; ++r) {
    INFO("request " << r);
    SwaList want{std::vector<std::int32_t>(512, -1), 0};
    if (seq_lens[r] > 0)
      want = reference_swa_draft(std::span(table).subspan(r * width, width), prefix[r], seq_lens[r], 512);
    CHECK(std::vector<std::int32_t>(shared.begin() + r * 512, shared.begin() + (r + 1) * 512) == want.slots);
    CHECK(list_lengths.read()[r] == want.length);
  }
}

TEST_CASE("packed pages hold the reference's bytes, and nothing else is touched") {
  Draw draw;
  const int tokens = 70;
  std::vector<std::uint16_t> kv = draw.bf16(tokens * 512, 3.0f);
  for (int i = 0; i < 64; ++i) {
    kv[512 + i] = 0;                                       // a group of zeros
    kv[2 * 512 + i] = to_bf16(3e38f);                      // huge
    kv[3 * 512 + i] = to_bf16(448.0f * (i == 7 ? 2 : 1));  // the scale's edge
  }
  std::vector<std::int64_t> slots;
  for (int t = 0; t < tokens; ++t) slots.push_back(t == 9 ? -1 : t == 10 ? 64 * 3 : (t * 37) % 192);
  const DeviceArray<std::uint16_t> dkv(kv);
  const DeviceArray<std::int64_t> dslots(slots);
  const DeviceArray<std::uint8_t> pages(3 * BK_SWA_PAGE_BYTES);
  const BkSwaPack job{dkv.get(), dslots.get(), pages.get(), 3, tokens};
  REQUIRE(bk_swa_pack(&job, nullptr) == BK_KERNEL_OK);
  std::vector<std::uint8_t> want(3 * BK_SWA_PAGE_BYTES, 0xff);
  for (int t = 0; t < tokens; ++t) {
    if (slots[t] < 0 || slots[t] >= 192) continue;
    const SwaToken token = reference_swa_token(std::span(kv).subspan(static_cast<std::size_t>(t) * 512, 512));
    const std::int64_t page = slots[t] / 64 * BK_SWA_PAGE_BYTES;
    std::copy(token.data.begin(), token.data.end(), want.begin() + page + slots[t] % 64 * 576);
    std::copy(token.scales.begin(), token.scales.end(), want.begin() + page + 64 * 576 + slots[t] % 64 * 8);
  }
  const std::vector<std::uint8_t> got = pages.read();
  int differing = 0;
  for (std::size_t i = 0; i < want.size(); ++i) differing += got[i] != want[i] ? 1 : 0;
  INFO("seed " << draw.seed());
  CHECK(differing == 0);
}

TEST_CASE("a captured graph replays the packing; what cannot be done is refused") {
  Draw draw;
  const DeviceArray<std::uint16_t> kv(draw.bf16(512, 1.0f));
  const DeviceArray<std::int64_t> slots(std::vector<std::int64_t>{5});
  DeviceArray<std::uint8_t> pages(BK_SWA_PAGE_BYTES);
  BkSwaPack job{kv.get(), slots.get(), pages.get(), 1, 1};
  std::vector<std::uint8_t> first;
  replay_captured([&](void* stream) { return bk_swa_pack(&job, stream); },
                  [&] {
                    if (first.empty()) first = pages.read();
                    CHECK(pages.read() == first);
                    pages.poison();
                  });
  job.t = 0;
  CHECK(bk_swa_pack(&job, nullptr) == BK_KERNEL_BAD_SHAPE);
  job.t = 1;
  job.kv = nullptr;
  CHECK(bk_swa_pack(&job, nullptr) == BK_KERNEL_BAD_ARGUMENT);
  CHECK(bk_swa_draft_width(0) == 128);
  CHECK(bk_swa_draft_width(5) == 512);
  CHECK(bk_swa_draft_width(385) == 1024);
  CHECK(bk_swa_draft_width(897) == 0);
}

}  // namespace
}  // namespace bk::kernels
