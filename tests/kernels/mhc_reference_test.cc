#include <catch2/catch.hpp>
#include <cmath>

#include "common/number_formats.h"
#include "mhc/reference.h"

namespace bk::kernels {
namespace {

std::vector<std::uint16_t> bits(std::initializer_list<float> values) {
  std::vector<std::uint16_t> out;
  for (const float value : values) out.push_back(to_bf16(value));
  return out;
}

TEST_CASE("the reference mixes a token's streams by hand-checked factors") {
  // h = 1: x = [1 2 2 4], mean of squares 25/4; fn has a one at the first output and column 3 alone.
  const std::vector<std::uint16_t> x = bits({1, 2, 2, 4});
  std::vector<float> fn(24 * 4, 0.0f);
  fn[3] = 1.0f;
  std::vector<float> base(24, 0.0f);
  base[4] = 1.0f;
  const std::vector<float> scale = {2.0f, 1.0f, 1.0f};
  const MhcToken token = reference_mhc_pre(x, fn, scale, base, {});
  const double mixed = 4 / 2.5 * 2;
  CHECK(token.pre[0] == Approx(1 / (1 + std::exp(-mixed)) + 1e-6).epsilon(1e-6));
  CHECK(token.pre[1] == Approx(0.5).epsilon(1e-5));
  CHECK(token.post[0] == Approx(2 / (1 + std::exp(-1.0))));
  CHECK(token.post[3] == Approx(1.0));
  CHECK(token.layer_in[0] == Approx(token.pre[0] + 0.5 * 8).epsilon(1e-5));
  for (const double value : token.comb) CHECK(value == Approx(0.25).epsilon(1e-5));
  const MhcToken normed = reference_mhc_pre(x, fn, scale, base, bits({3}));
  CHECK(normed.layer_in[0] == Approx(3.0).epsilon(1e-6));
}

TEST_CASE("twenty rounds of Sinkhorn make rows and columns sum to one") {
  std::vector<float> base(24, 0.0f);
  for (std::size_t i = 8; i < 24; ++i) base[i] = static_cast<float>((i * 7) % 5) - 2.0f;
  const std::vector<float> fn(24 * 4, 0.0f);
  const std::vector<float> scale(3, 1.0f);
  const MhcToken token = reference_mhc_pre(bits({1, 1, 1, 1}), fn, scale, base, {});
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(token.comb[i] + token.comb[4 + i] + token.comb[8 + i] + token.comb[12 + i] == Approx(1).epsilon(1e-5));
    CHECK(token.comb[4 * i] + token.comb[4 * i + 1] + token.comb[4 * i + 2] + token.comb[4 * i + 3] ==
          Approx(1).epsilon(1e-3));
  }
  // Scaling rows and columns leaves cross ratios alone.
  const double ratio = token.comb[0] * token.comb[5] / (token.comb[1] * token.comb[4]);
  CHECK(ratio == Approx(std::exp(base[8] + base[13] - base[9] - base[12])).epsilon(1e-3));
}

TEST_CASE("the reference adds the streams over the first index of comb") {
  const std::vector<float> post = {1, 0, 0, 2};
  std::vector<float> comb(16, 0.0f);
  comb[0 * 4 + 1] = 1;  // stream 0 goes to stream 1
  comb[2 * 4 + 3] = 0.5f;
  CHECK(reference_mhc_post(bits({5, 6, 7, 8}), bits({10}), post, comb) == std::vector<double>{10, 5, 0, 23.5});
}

TEST_CASE("the reference joins the streams by hand-checked factors") {
  // h = 2: the squares' mean is 50/8; fn reads column 7, which holds 5, into the factor of stream 2.
  const std::vector<std::uint16_t> x = bits({1, 2, 0, 4, 2, 0, 0, 5});
  std::vector<float> fn(4 * 8, 0.0f);
  fn[2 * 8 + 7] = 1.0f;
  const std::vector<float> base = {0, 1, 0, -2};
  const std::vector<double> joined = reference_mhc_head(x, fn, 3.0f, base);
  const auto factor = [](double mix) { return 1 / (1 + std::exp(-mix)) + 1e-6; };
  CHECK(joined.size() == 2);
  CHECK(joined[0] == Approx(factor(0) * 1 + factor(5 / 2.5 * 3) * 2).epsilon(1e-6));
  CHECK(joined[1] == Approx(factor(0) * 2 + factor(1) * 4 + factor(-2) * 5).epsilon(1e-6));
}

}  // namespace
}  // namespace bk::kernels
