#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/device_test_support.h"
#include "markov_topk/markov_topk.h"
#include "markov_topk/reference.h"

namespace bk::kernels {
namespace {

std::vector<std::int64_t> distinct(Draw& draw, int count, int v) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(v));
  std::iota(all.begin(), all.end(), 0);
  std::shuffle(all.begin(), all.end(), draw.engine());
  all.resize(static_cast<std::size_t>(count));
  return all;
}

struct Case {
  Case(Draw& draw, int requests, int per_request, int vocabulary, int row_stride)
      : batch(requests),
        count(per_request),
        v(vocabulary),
        stride(row_stride),
        base(draw.floats(static_cast<std::size_t>(requests) * per_request, 4.0f)),
        w1(draw.bf16(static_cast<std::size_t>(vocabulary) * 256, 0.1f)),
        w2(draw.bf16(static_cast<std::size_t>(vocabulary) * 256, 1.0f)),
        logits(static_cast<std::size_t>(requests) * row_stride) {
    for (int b = 0; b < batch; ++b) {
      const std::vector<std::int64_t> row = distinct(draw, count, v);
      idx.insert(idx.end(), row.begin(), row.end());
      prev.push_back(row[0]);
    }
  }

  int batch, count, v, stride;
  std::vector<float> base;
  std::vector<std::uint16_t> w1, w2;
  std::vector<std::int64_t> idx, prev;
  DeviceArray<float> logits;
};

TEST_CASE("markov_topk writes the reference's row, all of it") {
  const int shapes[][4] = {{1, 512, 20000, 20000}, {4, 512, 12928, 12936}, {3, 7, 1000, 1000}, {2, 2048, 4099, 4104},
                           {9, 512, 3001, 3008},   {1, 1, 1, 8},           {1, 64, 64, 64},    {1, 3, 70000, 70000}};
  Draw draw;
  for (const auto& [batch, count, v, stride] : shapes) {
    INFO("seed " << draw.seed() << " batch " << batch << " count " << count << " v " << v);
    Case c(draw, batch, count, v, stride);
    if (count > 2) c.idx[2] = -1;
    const DeviceArray<float> base(c.base);
    const DeviceArray<std::int64_t> idx(c.idx), prev(c.prev);
    const DeviceArray<std::uint16_t> w1(c.w1), w2(c.w2);
    const BkMarkovTopk job{base.get(), idx.get(), prev.get(), w1.get(), w2.get(), c.logits.get(),
                           stride,     batch,     count,      v,        1};
    REQUIRE(bk_markov_topk(&job, nullptr) == BK_KERNEL_OK);
    const std::vector<float> got = c.logits.read();
    int wrong = 0;
    for (int b = 0; b < batch; ++b) {
      const auto at = static_cast<std::size_t>(b) * count;
      const std::vector<double> want = reference_markov(std::span(c.base).subspan(at, count),
                                                        std::span(c.idx).subspan(at, count), c.prev[b], c.w1, c.w2, v);
      for (int i = 0; i < v; ++i) {
        const double value = static_cast<double>(got[static_cast<std::size_t>(b) * stride + i]);
        wrong += value == want[i] || std::fabs(value - want[i]) < 2e-5 ? 0 : 1;
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a thousand markov_topk launches agree bit for bit, in bf16 too") {
  Draw draw;
  const Case c(draw, 4, 512, 12928, 12928);
  std::vector<std::uint16_t> narrow;
  for (const float value : c.base) narrow.push_back(to_bf16(value));
  const DeviceArray<std::uint16_t> base(narrow), w1(c.w1), w2(c.w2);
  const DeviceArray<std::int64_t> idx(c.idx), prev(c.prev);
  DeviceArray<std::uint16_t> logits(4 * 12928);
  const BkMarkovTopk job{base.get(), idx.get(), prev.get(), w1.get(), w2.get(), logits.get(), 12928, 4, 512, 12928, 0};
  std::vector<std::uint16_t> first;
  int differing = 0;
  for (int i = 0; i < 1000; ++i) {
    logits.poison();
    REQUIRE(bk_markov_topk(&job, nullptr) == BK_KERNEL_OK);
    std::vector<std::uint16_t> now = logits.read();
    if (i == 0) first = now;
    differing += now != first ? 1 : 0;
  }
  CHECK(differing == 0);
  CHECK(std::count(first.begin(), first.end(), 0xff80) == 4 * (12928 - 512));
}

TEST_CASE("topk_select gives the reference's indices, with ties and NaN") {
  Draw draw;
  for (const auto& [v, count] :
       {std::pair{129280, 512}, {1000, 1000}, {5001, 17}, {33, 1}, {40000, 2000}, {300000, 700}}) {
    INFO("seed " << draw.seed() << " v " << v << " count " << count);
    for (const float step : {0.0f, 0.25f}) {
      std::vector<float> row = draw.floats(static_cast<std::size_t>(v), 1.0f);
      for (float& value : row) value = step > 0 ? std::round(value / step) * step : value;
      if (v > 40) row[5] = NAN;
      if (v > 40) row[v - 2] = -std::numeric_limits<float>::infinity();
      const DeviceArray<float> logits(row);
      const DeviceArray<float> values(static_cast<std::size_t>(count));
      const DeviceArray<std::int64_t> idx(static_cast<std::size_t>(count));
      const BkTopkSelect job{logits.get(), values.get(), idx.get(), v, 1, v, count, 1};
      REQUIRE(bk_topk_select(&job, nullptr) == BK_KERNEL_OK);
      const std::vector<std::int64_t> got = idx.read();
      CHECK(got == reference_topk(row, count));
      const std::vector<float> taken = values.read();
      int wrong = 0;
      for (int i = 0; i < count; ++i)
        wrong += std::bit_cast<std::uint32_t>(taken[i]) != std::bit_cast<std::uint32_t>(row[got[i]]) ? 1 : 0;
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("a captured graph replays markov_topk and topk_select") {
  Draw draw;
  Case c(draw, 2, 64, 4096, 4096);
  const DeviceArray<float> base(c.base);
  const DeviceArray<std::int64_t> idx(c.idx), prev(c.prev);
  const DeviceArray<std::uint16_t> w1(c.w1), w2(c.w2);
  const BkMarkovTopk job{base.get(), idx.get(), prev.get(), w1.get(), w2.get(), c.logits.get(), 4096, 2, 64, 4096, 1};
  std::vector<float> first;
  replay_captured([&](void* stream) { return bk_markov_topk(&job, stream); },
                  [&] {
                    if (first.empty()) first = c.logits.read();
                    CHECK(c.logits.read() == first);
                    c.logits.poison();
                  });
  const DeviceArray<float> rows(first), values(2 * 64);
  DeviceArray<std::int64_t> chosen(2 * 64);
  const BkTopkSelect select{rows.get(), values.get(), chosen.get(), 4096, 2, 4096, 64, 1};
  replay_captured([&](void* stream) { return bk_topk_select(&select, stream); },
                  [&] {
                    std::vector<std::int64_t> want = c.idx;
                    for (int b = 0; b < 2; ++b) std::sort(want.begin() + b * 64, want.begin() + (b + 1) * 64);
                    CHECK(chosen.read() == want);
                    chosen.poison();
                  });
}

TEST_CASE("markov_topk and topk_select refuse what they cannot do") {
  Draw draw;
  const Case c(draw, 1, 8, 64, 64);
  const DeviceArray<float> base(c.base);
  const DeviceArray<std::int64_t> idx(c.idx), prev(c.prev);
  const DeviceArray<std::uint16_t> w1(c.w1), w2(c.w2);
  const auto refuses = [&](auto change, int status) {
    BkMarkovTopk job{base.get(), idx.get(), prev.get(), w1.get(), w2.get(), c.logits.get(), 64, 1, 8, 64, 1};
    change(job);
    CHECK(bk_markov_topk(&job, nullptr) == status);
  };
  refuses([](BkMarkovTopk& j) { j.batch = 0; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkMarkovTopk& j) { j.batch = 65; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkMarkovTopk& j) { j.count = 65; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkMarkovTopk& j) { j.logits_stride = 60; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkMarkovTopk& j) { j.logits_stride = 68; }, BK_KERNEL_BAD_ALIGNMENT);
  refuses([](BkMarkovTopk& j) { j.w2 = static_cast<const char*>(j.w2) + 2; }, BK_KERNEL_BAD_ALIGNMENT);
  refuses([](BkMarkovTopk& j) { j.prev = nullptr; }, BK_KERNEL_BAD_ARGUMENT);
  BkTopkSelect job{base.get(), c.logits.get(), nullptr, 8, 1, 8, 4, 1};
  CHECK(bk_topk_select(&job, nullptr) == BK_KERNEL_BAD_ARGUMENT);
  CHECK(std::isnan(c.logits.read()[0]));
}

}  // namespace
}  // namespace bk::kernels
