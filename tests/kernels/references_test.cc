#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "common/number_formats.h"
#include "fp8_head/reference.h"
#include "markov_topk/reference.h"
#include "moe_gate/reference.h"

namespace bk::kernels {
namespace {

TEST_CASE("the reference logits are dot products over strided rows") {
  // x rows [1 2 | pad] and [3 4 | pad], w rows [1 0], [0.5 -1], [2 2].
  std::vector<std::uint16_t> x;
  for (const float value : {1.0f, 2.0f, 99.0f, 3.0f, 4.0f, 99.0f}) x.push_back(to_bf16(value));
  std::vector<std::uint16_t> w;
  for (const float value : {1.0f, 0.0f, 0.5f, -1.0f, 2.0f, 2.0f}) w.push_back(to_bf16(value));
  CHECK(reference_logits(x, w, 2, 3, 2, 3) == std::vector<double>{1, -1.5, 6, 3, -2.5, 14});
}

TEST_CASE("the reference route scores, chooses with the bias and weighs without it") {
  const std::vector<double> logits = {0, 1, 2, 3};
  const std::vector<float> bias = {10, 0, 0, 0};
  const Routed routed = reference_route(logits, bias, BK_MOE_SIGMOID, 2, true, 1.5);
  CHECK(routed.ids == std::vector<int>{0, 3});
  const double high = 1 / (1 + std::exp(-3.0));
  CHECK(routed.weights[0] == Approx(1.5 * 0.5 / (0.5 + high)));
  CHECK(routed.weights[0] + routed.weights[1] == Approx(1.5));

  const Routed soft = reference_route(logits, {}, BK_MOE_SOFTMAX, 2, false, 1.0);
  CHECK(soft.ids == std::vector<int>{3, 2});
  CHECK(soft.weights[0] == Approx(0.6439142598879724));
  CHECK(soft.weights[1] == Approx(0.23688281808991013));

  const Routed root = reference_route(logits, {}, BK_MOE_SQRTSOFTPLUS, 1, false, 1.0);
  CHECK(root.weights[0] == Approx(std::sqrt(3.048587351573742)));
}

TEST_CASE("the reference route sends ties to the lower index and NaN to the end") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(reference_route(std::vector<double>{nan, 1, 2, 1, 2}, {}, BK_MOE_SIGMOID, 4, true, 1.0).ids ==
        std::vector<int>{2, 4, 1, 3});
  CHECK(reference_route(std::vector<double>{nan, 5, nan}, {}, BK_MOE_SIGMOID, 3, true, 1.0).ids ==
        std::vector<int>{1, 0, 2});
}

TEST_CASE("the reference quantiser scales a row to 448 and keeps zeros zero") {
  std::vector<std::uint16_t> row;
  for (const float value : {1.0f, -2.0f, 0.0f, 0.5f}) row.push_back(to_bf16(value));
  const QuantisedRow out = reference_quantise(row);
  CHECK(out.scale == 2.0f / 448.0f);
  CHECK(out.bytes == std::vector<std::uint8_t>{to_e4m3(224), 0xfe, 0, to_e4m3(112)});
  const QuantisedRow zeros = reference_quantise(std::vector<std::uint16_t>(3, 0));
  CHECK(zeros.bytes == std::vector<std::uint8_t>{0, 0, 0});
  CHECK(zeros.scale == 1e-6f / 448.0f);
  const QuantisedRow broken = reference_quantise(
      std::vector<std::uint16_t>{to_bf16(std::numeric_limits<float>::quiet_NaN()), 0x7f80, 0xff80, to_bf16(3.0f)});
  CHECK(broken.bytes == std::vector<std::uint8_t>{0, 0x7e, 0xfe, 0x7e});
}

TEST_CASE("the reference head undoes the row's scale") {
  const std::vector<std::uint16_t> x = {to_bf16(2.0f), to_bf16(-1.0f)};
  const std::vector<std::uint8_t> w8 = {to_e4m3(3), to_e4m3(4)};
  CHECK(reference_head(x, w8, 0.5f) == 1.0);
}

TEST_CASE("the reference Markov row is -inf but where an index points") {
  std::vector<std::uint16_t> w1(4 * 256, 0);
  std::vector<std::uint16_t> w2(4 * 256, 0);
  w1[2 * 256 + 7] = to_bf16(3.0f);
  w2[1 * 256 + 7] = to_bf16(0.5f);
  const std::vector<float> base = {10, 20, 30};
  const std::vector<std::int64_t> idx = {1, 3, -1};
  const double none = -std::numeric_limits<double>::infinity();
  CHECK(reference_markov(base, idx, 2, w1, w2, 4) == std::vector<double>{none, 11.5, none, 20});
}

TEST_CASE("the reference top-k keeps the order of indices, low ones first among equals, NaN last") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(reference_topk(std::vector<float>{1, nan, 3, 2, 3, 2}, 3) == std::vector<std::int64_t>{2, 3, 4});
  CHECK(reference_topk(std::vector<float>{nan, nan, 3}, 2) == std::vector<std::int64_t>{0, 2});
}

}  // namespace
}  // namespace bk::kernels
