#include <cmath>

#include "common/device_test_support.h"
#include "indexer/indexer.h"
#include "indexer/reference.h"

namespace bk::kernels {
namespace {

std::vector<float> rotations(int positions) {
  std::vector<float> out;
  for (int p = 0; p < positions; ++p) {
    for (int part = 0; part < 2; ++part) {
      for (int i = 0; i < 32; ++i) {
        const double angle = p * std::pow(10000.0, -i / 32.0);
        out.push_back(static_cast<float>(part == 0 ? std::cos(angle) : std::sin(angle)));
      }
    }
  }
  return out;
}

TEST_CASE("the indexer's queries are the reference's bytes and weights") {
  Draw draw;
  for (const int t : {1, 6, 33}) {
    INFO("seed " << draw.seed() << " t " << t);
    std::vector<std::uint16_t> q = draw.bf16(static_cast<std::size_t>(t) * 64 * 128, 2.0f);
    for (int i = 0; i < 128; ++i) q[128 + i] = 0;
    for (int i = 0; i < 128; ++i) q[2 * 128 + i] = to_bf16(1e30f * (i % 2 == 0 ? 1.0f : -0.5f));
    const std::vector<float> weight = draw.floats(static_cast<std::size_t>(t) * 64, 1.0f);
    const std::vector<float> table = rotations(500);
    std::vector<std::int64_t> positions;
    for (int i = 0; i < t; ++i) positions.push_back((i * 97 + 13) % 500);
    const DeviceArray<std::uint16_t> dq(q);
    const DeviceArray<float> dweight(weight), dtable(table), out(weight.size());
    const DeviceArray<std::int64_t> dpositions(positions);
    const DeviceArray<std::uint8_t> q8(q.size());
    BkIndexerQuery job{dq.get(), dweight.get(), dpositions.get(), dtable.get(), q8.get(), out.get(), 500, t, 0};
    REQUIRE(bk_indexer_query(&job, nullptr) == BK_KERNEL_OK);
    const std::vector<std::uint8_t> bytes = q8.read();
    const std::vector<float> weights = out.read();
    int differing = 0;
    for (std::size_t head = 0; head < weights.size(); ++head) {
      const IndexQuery want = reference_index_query(std::span(q).subspan(head * 128, 128), weight[head],
                                                    std::span(table).subspan(positions[head / 64] * 64, 64));
      for (std::size_t i = 0; i < 128; ++i) differing += bytes[head * 128 + i] != want.q8[i] ? 1 : 0;
      CHECK(static_cast<double>(weights[head]) == Approx(want.weight).epsilon(1e-6));
    }
    CHECK(differing == 0);
    std::vector<std::uint16_t> narrow;
    std::vector<float> widened;
    for (const float value : weight) narrow.push_back(to_bf16(value));
    for (const std::uint16_t value : narrow) widened.push_back(from_bf16(value));
    const DeviceArray<std::uint16_t> dnarrow(narrow);
    const DeviceArray<float> dwidened(widened), of_fp32(weight.size()), of_bf16(weight.size());
    job.weight = dwidened.get();
    job.weight_out = of_fp32.get();
    REQUIRE(bk_indexer_query(&job, nullptr) == BK_KERNEL_OK);
    job.weight = dnarrow.get();
    job.weight_out = of_bf16.get();
    job.weight_bf16 = 1;
    REQUIRE(bk_indexer_query(&job, nullptr) == BK_KERNEL_OK);
    CHECK(of_bf16.read() == of_fp32.read());
  }
}

std::vector<std::uint8_t> random_e4m3(Draw& draw, std::size_t count) {
  std::vector<std::uint8_t> out;
  for (const float value : draw.floats(count, 60.0f)) out.push_back(to_e4m3(static_cast<double>(value)));
  return out;
}

TEST_CASE("scores are the reference's up to the row's bound, and -inf beyond") {
  Draw draw;
  const int shapes[][2] = {{1, 1}, {5, 700}, {3, 129}, {2, 4096}};
  for (const auto& [t, s] : shapes) {
    INFO("seed " << draw.seed() << " t " << t << " s " << s);
    const std::vector<std::uint8_t> q8 = random_e4m3(draw, static_cast<std::size_t>(t) * 64 * 128);
    const std::vector<std::uint8_t> k8 = random_e4m3(draw, static_cast<std::size_t>(s) * 128);
    const std::vector<float> weight = draw.floats(static_cast<std::size_t>(t) * 64, 1.0f);
    const std::vector<float> k_scale = draw.floats(s, 1.0f);
    std::vector<std::int32_t> bound;
    for (int row = 0; row < t; ++row) bound.push_back(row == 1 ? 0 : row == 2 ? s + 5 : s - s / 3);
    const DeviceArray<std::uint8_t> dq(q8), dk(k8);
    const DeviceArray<float> dweight(weight), dscale(k_scale);
    DeviceArray<float> scores(static_cast<std::size_t>(t) * (s + 3));
    const DeviceArray<std::int32_t> dbound(bound);
    const BkIndexerScores job{dq.get(), dweight.get(), dk.get(), dscale.get(), dbound.get(), scores.get(), s + 3, t, s};
    const auto check = [&] {
      const std::vector<float> got = scores.read();
      int wrong = 0;
      for (int row = 0; row < t; ++row) {
        for (int i = 0; i<s; i += s> 1000 ? 7 : 1) {
          const float value = got[static_cast<std::size_t>(row) * (s + 3) + i];
          if (i >= bound[row]) {
            wrong += std::isinf(value) && value < 0 ? 0 : 1;
            continue;
          }
          const double want =
              reference_index_score(std::span(q8).subspan(static_cast<std::size_t>(row) * 8192, 8192),
                                    std::span(weight).subspan(static_cast<std::size_t>(row) * 64, 64),
                                    std::span(k8).subspan(static_cast<std::size_t>(i) * 128, 128), k_scale[i]);
          wrong += std::fabs(static_cast<double>(value) - want) <= 1.5e6 * 1e-5 ? 0 : 1;
        }
      }
      CHECK(wrong == 0);
      scores.poison();
    };
    REQUIRE(bk_indexer_scores(&job, nullptr) == BK_KERNEL_OK);
    check();
    replay_captured([&](void* stream) { return bk_indexer_scores(&job, stream); }, check, 1);
  }
}

TEST_CASE("choices become places in the cache; those past the bound and negative ones -1") {
  const DeviceArray<std::int64_t> chosen(std::vector<std::int64_t>{0, 5, -1, 9, 3, 2, 1, 0, 8, 7, 6, 5});
  const DeviceArray<std::int32_t> bound(std::vector<std::int32_t>{9, 0, 9}), rows(std::vector<std::int32_t>{1, 0, 0});
  const DeviceArray<std::int32_t> table(std::vector<std::int32_t>{10, 11, 12, 20, 21, 22}), slots(12), counts(3);
  const BkIndexerGlobalise job{chosen.get(), bound.get(), rows.get(), table.get(), slots.get(),
                               counts.get(), 3,           4,          4,           3};
  REQUIRE(bk_indexer_globalise(&job, nullptr) == BK_KERNEL_OK);
  CHECK(slots.read() == std::vector<std::int32_t>{80, 85, -1, -1, -1, -1, -1, -1, 48, 47, 46, 45});
  CHECK(counts.read() == std::vector<std::int32_t>{2, 0, 4});
}

TEST_CASE("the indexer refuses what it cannot do") {
  BkIndexerQuery query{};
  CHECK(bk_indexer_query(&query, nullptr) == BK_KERNEL_BAD_ARGUMENT);
  alignas(16) float some[4] = {};
  std::int64_t position = 0;
  query = {some, some, &position, some, some, some, 1, 0, 0};
  CHECK(bk_indexer_query(&query, nullptr) == BK_KERNEL_BAD_SHAPE);
  query.t = 1;
  query.q = reinterpret_cast<const char*>(some) + 2;
  CHECK(bk_indexer_query(&query, nullptr) == BK_KERNEL_BAD_ALIGNMENT);
  BkIndexerScores scores{some, some, some, some, nullptr, some, 4, 1, 4};
  CHECK(bk_indexer_scores(&scores, nullptr) == BK_KERNEL_BAD_ARGUMENT);
  std::int32_t bound = 1;
  scores.bound = &bound;
  scores.scores_stride = 3;
  CHECK(bk_indexer_scores(&scores, nullptr) == BK_KERNEL_BAD_SHAPE);
}

}  // namespace
}  // namespace bk::kernels
