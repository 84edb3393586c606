#include <algorithm>
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

TEST_CASE("a batch's lists are the reference's, causal and with the whole block") {
  Draw draw;
  const int width = 20, stride = 23;
  const std::vector<std::int32_t> table = random_blocks(draw, 4 * stride);
  // Requests of 6, 6, 1 and 3 new tokens; two padded tokens behind them carry a request that does not exist.
  const std::vector<std::int32_t> starts = {0, 6, 12, 13, 16}, seq_lens = {6, 1000, 129, 134};
  std::vector<std::int32_t> rows;
  for (int r = 0; r < 4; ++r) rows.insert(rows.end(), starts[r + 1] - starts[r], r);
  rows.insert(rows.end(), 2, 1 << 20);
  std::vector<std::uint8_t> valid(18, 1);
  valid[3] = valid[16] = valid[17] = 0;
  const DeviceArray<std::int32_t> dstarts(starts), dlens(seq_lens), drows(rows), dtable(table);
  const DeviceArray<std::uint8_t> dvalid(valid);
  struct Case {
    int first, t, list_width, causal;
  };
  for (const Case& c : {Case{0, 18, 128, 1}, Case{12, 4, 128, 1}, Case{0, 18, 256, 0}, Case{0, 13, 128, 0}}) {
    INFO("first " << c.first << " t " << c.t << " width " << c.list_width << " causal " << c.causal);
    const DeviceArray<std::int32_t> slots(static_cast<std::size_t>(c.t) * (c.list_width + 8)), lengths(c.t);
    const BkSwaWindows job{dstarts.get(), dlens.get(),   drows.get(),  dvalid.get(),     dtable.get(),
                           slots.get(),   lengths.get(), stride,       c.list_width + 8, c.first,
                           c.t,           width,         c.list_width, c.causal};
    REQUIRE(bk_swa_windows(&job, nullptr) == BK_KERNEL_OK);
    const std::vector<std::int32_t> got = slots.read(), got_lengths = lengths.read();
    for (int i = 0; i < c.t; ++i) {
      INFO("token " << c.first + i);
      std::vector<std::int32_t> want(c.list_width, -1);
      int length = 0;
      if (valid[c.first + i] != 0) {
        const int r = rows[c.first + i];
        const auto blocks = std::span(table).subspan(static_cast<std::size_t>(r) * stride, width);
        const int prefix = seq_lens[r] - (starts[r + 1] - starts[r]);
        const SwaList list = c.causal != 0 ? reference_swa_decode(blocks, prefix + c.first + i - starts[r])
                                           : reference_swa_draft(blocks, prefix, seq_lens[r], 256);
        length = std::min(list.length, c.list_width);
        std::copy(list.slots.begin(), list.slots.begin() + length, want.begin());
      }
      const auto row = got.begin() + static_cast<std::ptrdiff_t>(i) * (c.list_width + 8);
      CHECK(std::vector<std::int32_t>(row, row + c.list_width) == want);
      CHECK(row[c.list_width] == -1);  // the poison: nothing is written behind a list
      CHECK(got_lengths[i] == length);
    }
  }
  BkSwaWindows bad{dstarts.get(), dlens.get(), drows.get(), dvalid.get(), dtable.get(), nullptr, nullptr, stride,
                   128,           0,           1,           width,        128,          1};
  CHECK(bk_swa_windows(&bad, nullptr) == BK_KERNEL_BAD_ARGUMENT);
  const DeviceArray<std::int32_t> slots(128), lengths(1);
  bad.slots = slots.get();
  bad.lengths = lengths.get();
  bad.slots_stride = 127;
  CHECK(bk_swa_windows(&bad, nullptr) == BK_KERNEL_BAD_SHAPE);
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
