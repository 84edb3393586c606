#include <bit>
#include <cmath>

#include "common/device_test_support.h"
#include "fp8_head/fp8_head.h"
#include "fp8_head/reference.h"

namespace bk::kernels {
namespace {

struct Case {
  Case(Draw& draw, int tokens, int vocabulary, int inner, int stride)
      : m(tokens),
        v(vocabulary),
        k(inner),
        x_stride(stride),
        x(draw.bf16(static_cast<std::size_t>(tokens) * stride, 1.0f)),
        w(draw.bf16(static_cast<std::size_t>(vocabulary) * inner, 0.02f)),
        dx(x),
        dw(w),
        w8(w.size()),
        scale(vocabulary),
        logits(static_cast<std::size_t>(tokens) * vocabulary) {}

  BkFp8Head head() const { return {dx.get(), w8.get(), scale.get(), logits.get(), x_stride, v, m, v, k, 1}; }
  void quantise() const {
    const BkFp8Quantise job{dw.get(), w8.get(), scale.get(), v, k};
    REQUIRE(bk_fp8_quantise(&job, nullptr) == BK_KERNEL_OK);
  }

  int m, v, k, x_stride;
  std::vector<std::uint16_t> x, w;
  DeviceArray<std::uint16_t> dx, dw;
  DeviceArray<std::uint8_t> w8;
  DeviceArray<float> scale;
  DeviceArray<float> logits;
};

TEST_CASE("the quantiser gives the reference's bytes, for rows of zeros, tiny, huge and broken numbers too") {
  Draw draw;
  Case c(draw, 1, 48, 512, 512);
  const auto set = [&](int row, int column, float value) {
    c.w[static_cast<std::size_t>(row) * c.k + column] = to_bf16(value);
  };
  for (int i = 0; i < c.k; ++i) {
    set(3, i, 0.0f);
    set(4, i, i % 2 == 0 ? 1e-8f : -3e-7f);
    set(5, i, std::ldexp(static_cast<float>(1 + i % 16), -18 + i / 16 % 20));
    set(6, i, 3e38f * (i % 3 == 0 ? -1.0f : 0.4f));
  }
  set(7, 11, NAN);
  set(7, 12, INFINITY);
  set(7, 13, -INFINITY);
  const DeviceArray<std::uint16_t> changed(c.w);
  const BkFp8Quantise job{changed.get(), c.w8.get(), c.scale.get(), c.v, c.k};
  REQUIRE(bk_fp8_quantise(&job, nullptr) == BK_KERNEL_OK);
  const std::vector<std::uint8_t> bytes = c.w8.read();
  const std::vector<float> scales = c.scale.read();
  for (int row = 0; row < c.v; ++row) {
    INFO("seed " << draw.seed() << " row " << row);
    const std::size_t at = static_cast<std::size_t>(row) * c.k;
    const QuantisedRow want = reference_quantise(std::span(c.w).subspan(at, c.k));
    CHECK(std::bit_cast<std::uint32_t>(scales[row]) == std::bit_cast<std::uint32_t>(want.scale));
    int differing = 0;
    int broken = 0;
    for (int i = 0; i < c.k; ++i) {
      differing += bytes[at + i] != want.bytes[i] ? 1 : 0;
      broken += (bytes[at + i] & 0x7f) == 0x7f ? 1 : 0;
    }
    CHECK(differing == 0);
    CHECK(broken == 0);
  }
  CHECK(bytes[3 * c.k] == 0);
}

void check_logits(const Case& c, double tolerance) {
  const std::vector<std::uint8_t> bytes = c.w8.read();
  const std::vector<float> scales = c.scale.read();
  const std::vector<float> got = c.logits.read();
  double error = 0;
  double size = 0;
  for (int token = 0; token < c.m; ++token) {
    const auto row = std::span(c.x).subspan(static_cast<std::size_t>(token) * c.x_stride, c.k);
    for (int v = 0; v < c.v; ++v) {
      const double want =
          reference_head(row, std::span(bytes).subspan(static_cast<std::size_t>(v) * c.k, c.k), scales[v]);
      const double off = static_cast<double>(got[static_cast<std::size_t>(token) * c.v + v]) - want;
      error += off * off;
      size += want * want;
    }
  }
  CHECK(std::sqrt(error / size) < tolerance);
}

TEST_CASE("fp8_head gives the reference's logits for every kind of shape") {
  const int shapes[][4] = {{1, 2128, 4096, 4096}, {6, 4336, 4096, 4104}, {8, 16, 256, 256},     {9, 2128, 4096, 4096},
                           {16, 160, 512, 520},   {17, 176, 4096, 4096}, {32, 320, 3072, 3072}, {3, 6000, 1024, 1024},
                           {24, 336, 1280, 1288}, {5, 64, 2816, 2816}};
  Draw draw;
  for (const auto& [m, v, k, stride] : shapes) {
    INFO("seed " << draw.seed() << " m " << m << " v " << v << " k " << k);
    const Case c(draw, m, v, k, stride);
    c.quantise();
    const BkFp8Head head = c.head();
    REQUIRE(bk_fp8_head(&head, nullptr) == BK_KERNEL_OK);
    check_logits(c, 4e-6);
  }
}

TEST_CASE("every E4M3 number counts as itself, in both kernels") {
  for (const int m : {1, 9}) {
    std::vector<std::uint16_t> x(static_cast<std::size_t>(m) * 256, 0);
    for (int token = 0; token < m; ++token) x[static_cast<std::size_t>(token) * 256 + token] = to_bf16(1.0f);
    std::vector<std::uint8_t> bytes(256 * 256, 0);
    for (int row = 0; row < 256; ++row) {
      for (int column = 0; column < 16; ++column)
        bytes[row * 256 + column] = (row & 0x7f) == 0x7f ? 0 : static_cast<std::uint8_t>(row);
    }
    const DeviceArray<std::uint16_t> dx(x);
    const DeviceArray<std::uint8_t> w8(bytes);
    const DeviceArray<float> scale(std::vector<float>(256, 1.0f));
    const DeviceArray<float> logits(static_cast<std::size_t>(m) * 256);
    const BkFp8Head head{dx.get(), w8.get(), scale.get(), logits.get(), 256, 256, m, 256, 256, 1};
    REQUIRE(bk_fp8_head(&head, nullptr) == BK_KERNEL_OK);
    const std::vector<float> got = logits.read();
    int wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      wrong += static_cast<double>(got[i]) != from_e4m3(bytes[i % 256 * 256]) ? 1 : 0;
    CHECK(wrong == 0);
  }
}

TEST_CASE("infinities and NaN in x reach the logits of their token alone; huge and tiny tokens keep their digits") {
  Draw draw;
  Case c(draw, 6, 64, 512, 512);
  for (int i = 0; i < 512; ++i) {
    c.x[3 * 512 + i] = to_bf16(std::ldexp(from_bf16(c.x[3 * 512 + i]), 50));
    c.x[4 * 512 + i] = to_bf16(std::ldexp(from_bf16(c.x[4 * 512 + i]), -60));
  }
  c.x[1 * 512 + 7] = to_bf16(NAN);
  c.x[2 * 512 + 9] = to_bf16(INFINITY);
  c.quantise();
  const DeviceArray<std::uint16_t> dx(c.x);
  BkFp8Head head = c.head();
  head.x = dx.get();
  REQUIRE(bk_fp8_head(&head, nullptr) == BK_KERNEL_OK);
  const std::vector<std::uint8_t> bytes = c.w8.read();
  const std::vector<float> scales = c.scale.read();
  const std::vector<float> got = c.logits.read();
  for (int v = 0; v < c.v; ++v) {
    CHECK(std::isnan(got[1 * 64 + v]));
    CHECK(!std::isfinite(got[2 * 64 + v]));
    for (const int token : {0, 3, 4}) {
      const auto weights = std::span(bytes).subspan(static_cast<std::size_t>(v) * 512, 512);
      const double want =
          reference_head(std::span(c.x).subspan(static_cast<std::size_t>(token) * 512, 512), weights, scales[v]);
      CHECK(std::fabs(static_cast<double>(got[token * 64 + v]) - want) < 1e-4 * std::ldexp(1.0, token == 3   ? 50
                                                                                                : token == 4 ? -60
                                                                                                             : 0));
    }
  }
}

TEST_CASE("a thousand launches agree bit for bit") {
  Draw draw;
  for (const int m : {6, 12}) {
    const Case c(draw, m, 4240, 4096, 4096);
    c.quantise();
    const BkFp8Head head = c.head();
    std::vector<std::uint32_t> first;
    int differing = 0;
    for (int i = 0; i < 1000; ++i) {
      c.logits.read();
      REQUIRE(cudaMemset(c.logits.get(), 0xff, static_cast<std::size_t>(m) * c.v * 4) == cudaSuccess);
      REQUIRE(bk_fp8_head(&head, nullptr) == BK_KERNEL_OK);
      std::vector<std::uint32_t> now;
      for (const float value : c.logits.read()) now.push_back(std::bit_cast<std::uint32_t>(value));
      if (i == 0) first = now;
      differing += now != first ? 1 : 0;
    }
    CHECK(differing == 0);
  }
}

TEST_CASE("a captured graph replays fp8_head and the quantiser") {
  Draw draw;
  for (const int m : {6, 12}) {
    Case c(draw, m, 320, 1024, 1024);
    const BkFp8Quantise job{c.dw.get(), c.w8.get(), c.scale.get(), c.v, c.k};
    replay_captured([&](void* stream) { return bk_fp8_quantise(&job, stream); }, [] {}, 1);
    const BkFp8Head head = c.head();
    replay_captured([&](void* stream) { return bk_fp8_head(&head, stream); },
                    [&] {
                      check_logits(c, 4e-6);
                      c.logits.poison();
                    });
  }
}

TEST_CASE("fp8_head refuses what it cannot do") {
  Draw draw;
  const Case c(draw, 2, 32, 512, 512);
  const auto refuses = [&](auto change, int status) {
    BkFp8Head head = c.head();
    change(head);
    CHECK(bk_fp8_head(&head, nullptr) == status);
  };
  refuses([](BkFp8Head& h) { h.m = 0; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkFp8Head& h) { h.m = 33; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkFp8Head& h) { h.v = 24; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkFp8Head& h) { h.k = 300; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkFp8Head& h) { h.k = 8192; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkFp8Head& h) { h.w8 = static_cast<const char*>(h.w8) + 1; }, BK_KERNEL_BAD_ALIGNMENT);
  refuses([](BkFp8Head& h) { h.x_stride = 513; }, BK_KERNEL_BAD_ALIGNMENT);
  refuses([](BkFp8Head& h) { h.scale = nullptr; }, BK_KERNEL_BAD_ARGUMENT);
  CHECK(std::isnan(c.logits.read()[0]));
}

}  // namespace
}  // namespace bk::kernels
