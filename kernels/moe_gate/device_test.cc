#include <bit>
#include <cmath>

#include "common/device_test_support.h"
#include "moe_gate/reference.h"

namespace bk::kernels {
namespace {

/// A router's inputs on both sides.
struct Case {
  Case(Draw& draw, int tokens, int experts, int inner, int stride)
      : m(tokens),
        n(experts),
        k(inner),
        x_stride(stride),
        x(draw.bf16(static_cast<std::size_t>(tokens) * stride, 1.0f)),
        w(draw.bf16(static_cast<std::size_t>(experts) * inner, 1.0f / std::sqrt(static_cast<float>(inner)))),
        bias(draw.floats(experts, 0.05f)),
        dx(x),
        dw(w),
        dbias(bias),
        workspace(bk_moe_workspace_bytes(experts)),
        logits(static_cast<std::size_t>(tokens) * experts) {}

  BkMoeGate gate() const { return {dx.get(), dw.get(), logits.get(), workspace.get(), x_stride, m, n, k}; }

  int m, n, k, x_stride;
  std::vector<std::uint16_t> x, w;
  std::vector<float> bias;
  DeviceArray<std::uint16_t> dx, dw;
  DeviceArray<float> dbias;
  DeviceArray<unsigned char> workspace;
  DeviceArray<float> logits;
};

void check_logits(const Case& c) {
  const std::vector<double> want = reference_logits(c.x, c.w, c.m, c.n, c.k, c.x_stride);
  const std::vector<float> got = c.logits.read();
  double worst = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double error = std::fabs(static_cast<double>(got[i]) - want[i]);
    worst = error <= worst ? worst : error;  // keeps NaN
  }
  CHECK(worst < 1e-5);
}

TEST_CASE("moe_gate gives the reference's logits for every kind of shape") {
  const int shapes[][4] = {{1, 256, 4096, 4096}, {6, 256, 4096, 4104},  {8, 16, 256, 256},  {16, 128, 2048, 2048},
                           {17, 48, 512, 520},   {32, 256, 4096, 4096}, {5, 512, 768, 768}, {24, 384, 7168, 7168},
                           {31, 64, 1024, 1032}, {7, 256, 6144, 6144}};
  Draw draw;
  for (const auto& [m, n, k, stride] : shapes) {
    INFO("seed " << draw.seed() << " m " << m << " n " << n << " k " << k);
    const Case c(draw, m, n, k, stride);
    const BkMoeGate gate = c.gate();
    REQUIRE(bk_moe_gate(&gate, nullptr) == BK_KERNEL_OK);
    check_logits(c);
  }
}

TEST_CASE("moe_route chooses and weighs as the reference does") {
  struct Row {
    int m, n, k, scoring, top_k;
    bool biased, renormalise;
  };
  const Row rows[] = {
      {6, 256, 4096, BK_MOE_SQRTSOFTPLUS, 6, true, true}, {1, 256, 4096, BK_MOE_SIGMOID, 8, true, true},
      {8, 128, 2048, BK_MOE_SOFTMAX, 8, false, true},     {32, 256, 2048, BK_MOE_SOFTMAX, 6, true, false},
      {13, 64, 1024, BK_MOE_SIGMOID, 32, false, false},   {17, 48, 512, BK_MOE_SQRTSOFTPLUS, 4, false, true},
      {3, 16, 256, BK_MOE_SOFTMAX, 16, false, true},      {9, 208, 256, BK_MOE_SIGMOID, 1, true, true},
      {1, 128, 2048, BK_MOE_SOFTMAX, 8, false, true},     {7, 128, 2048, BK_MOE_SOFTMAX, 8, true, false},
      {5, 128, 1536, BK_MOE_SIGMOID, 17, true, true},     {8, 128, 512, BK_MOE_SQRTSOFTPLUS, 1, false, true},
      {9, 128, 2048, BK_MOE_SOFTMAX, 8, false, true},     {8, 128, 2304, BK_MOE_SOFTMAX, 12, false, true}};
  Draw draw;
  for (const Row& row : rows) {
    INFO("seed " << draw.seed() << " m " << row.m << " n " << row.n << " scoring " << row.scoring << " top "
                 << row.top_k);
    const Case c(draw, row.m, row.n, row.k, row.k);
    DeviceArray<float> weights(static_cast<std::size_t>(row.m) * row.top_k);
    DeviceArray<std::int32_t> ids(static_cast<std::size_t>(row.m) * row.top_k);
    const BkMoeGate gate = c.gate();
    const BkMoeRoute route{row.biased ? c.dbias.get() : nullptr,
                           weights.get(),
                           ids.get(),
                           row.scoring,
                           row.top_k,
                           row.renormalise ? 1 : 0,
                           1.5f};
    REQUIRE(bk_moe_route(&gate, &route, nullptr) == BK_KERNEL_OK);
    check_logits(c);
    const std::vector<float> logits = c.logits.read();
    const std::vector<float> got = weights.read();
    const std::vector<std::int32_t> got_ids = ids.read();
    for (int token = 0; token < row.m; ++token) {
      // From the kernel's own logits: two experts closer than the projection's rounding may change places.
      const std::vector<double> own(logits.begin() + token * row.n, logits.begin() + (token + 1) * row.n);
      const Routed want = reference_route(own, row.biased ? std::span<const float>(c.bias) : std::span<const float>(),
                                          row.scoring, row.top_k, row.renormalise, 1.5);
      for (int i = 0; i < row.top_k; ++i) {
        const std::size_t at = static_cast<std::size_t>(token) * row.top_k + i;
        CHECK(std::fabs(static_cast<double>(got[at]) - want.weights[i]) < 2e-5);
        if (got_ids[at] != want.ids[i])
          CHECK(std::fabs(own[got_ids[at]] - own[want.ids[i]]) < (row.biased ? 1.0 : 1e-4));
      }
    }
  }
}

TEST_CASE("moe_route sends equal scores to the lower index, and NaN last") {
  const int k = 512;
  const auto n = GENERATE(256, 128);  // 128: the kernel of one cluster
  const int last = n - 1;
  std::vector<std::uint16_t> x(k, to_bf16(1.0f));
  std::vector<std::uint16_t> w(static_cast<std::size_t>(n) * k, 0);
  for (const int expert : {last, 31, 72}) w[static_cast<std::size_t>(expert) * k] = to_bf16(2.0f);
  w[5 * k] = to_bf16(NAN);
  const DeviceArray<std::uint16_t> dx(x), dw(w);
  const DeviceArray<unsigned char> workspace(bk_moe_workspace_bytes(n));
  DeviceArray<float> weights(8);
  DeviceArray<std::int32_t> ids(8);
  const BkMoeGate gate{dx.get(), dw.get(), nullptr, workspace.get(), k, 1, n, k};
  for (const int scoring : {BK_MOE_SQRTSOFTPLUS, BK_MOE_SIGMOID}) {
    const BkMoeRoute route{nullptr, weights.get(), ids.get(), scoring, 8, 1, 1.0f};
    REQUIRE(bk_moe_route(&gate, &route, nullptr) == BK_KERNEL_OK);
    CHECK(ids.read() == std::vector<std::int32_t>{31, 72, last, 0, 1, 2, 3, 4});
  }
  for (std::size_t i = 0; i < w.size(); i += k) w[i] = to_bf16(NAN);
  const DeviceArray<std::uint16_t> all_nan(w);
  const BkMoeGate lost{dx.get(), all_nan.get(), nullptr, workspace.get(), k, 1, n, k};
  const BkMoeRoute route{nullptr, weights.get(), ids.get(), BK_MOE_SOFTMAX, 8, 1, 1.0f};
  REQUIRE(bk_moe_route(&lost, &route, nullptr) == BK_KERNEL_OK);
  CHECK(ids.read() == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(std::isnan(weights.read()[0]));
}

TEST_CASE("a thousand launches agree bit for bit") {
  Draw draw;
  const auto [n, k, scoring] =
      GENERATE(table<int, int, int>({{256, 4096, BK_MOE_SQRTSOFTPLUS}, {128, 2048, BK_MOE_SOFTMAX}}));
  const Case c(draw, 6, n, k, k);
  DeviceArray<float> weights(36);
  DeviceArray<std::int32_t> ids(36);
  const BkMoeGate gate = c.gate();
  const BkMoeRoute route{n == 256 ? c.dbias.get() : nullptr, weights.get(), ids.get(), scoring, 6, 1, 1.5f};
  const auto bits = [](const std::vector<float>& values) {
    std::vector<std::uint32_t> out;
    for (const float value : values) out.push_back(std::bit_cast<std::uint32_t>(value));
    return out;
  };
  REQUIRE(bk_moe_route(&gate, &route, nullptr) == BK_KERNEL_OK);
  const auto first = bits(weights.read());
  const auto routed_logits = bits(c.logits.read());
  REQUIRE(bk_moe_gate(&gate, nullptr) == BK_KERNEL_OK);
  const auto gate_logits = bits(c.logits.read());
  int differing = 0;
  for (int i = 0; i < 1000; ++i) {
    weights.poison();
    REQUIRE(bk_moe_route(&gate, &route, nullptr) == BK_KERNEL_OK);
    differing += bits(weights.read()) != first || bits(c.logits.read()) != routed_logits ? 1 : 0;
    REQUIRE(bk_moe_gate(&gate, nullptr) == BK_KERNEL_OK);
    differing += bits(c.logits.read()) != gate_logits ? 1 : 0;
  }
  CHECK(differing == 0);
}

TEST_CASE("a captured graph replays moe_gate and moe_route") {
  Draw draw;
  const auto [n, k] = GENERATE(table<int, int>({{256, 4096}, {128, 2048}}));
  Case c(draw, 6, n, k, k);
  DeviceArray<float> weights(36);
  DeviceArray<std::int32_t> ids(36);
  const BkMoeGate gate = c.gate();
  const BkMoeRoute route{c.dbias.get(), weights.get(), ids.get(), BK_MOE_SQRTSOFTPLUS, 6, 1, 1.5f};
  const auto check = [&] {
    check_logits(c);
    c.logits.poison();
  };
  replay_captured([&](void* stream) { return bk_moe_gate(&gate, stream); }, check);
  replay_captured([&](void* stream) { return bk_moe_route(&gate, &route, stream); }, check);
}

TEST_CASE("moe_gate refuses what it cannot do, and launches nothing") {
  Draw draw;
  const Case c(draw, 6, 256, 4096, 4096);
  const auto refuses = [&](auto change, int status) {
    BkMoeGate gate = c.gate();
    change(gate);
    CHECK(bk_moe_gate(&gate, nullptr) == status);
  };
  refuses([](BkMoeGate& g) { g.m = 0; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkMoeGate& g) { g.m = 33; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkMoeGate& g) { g.n = 250; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkMoeGate& g) { g.k = 4000; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkMoeGate& g) { g.x = static_cast<const char*>(g.x) + 2; }, BK_KERNEL_BAD_ALIGNMENT);
  refuses([](BkMoeGate& g) { g.x_stride = 4097; }, BK_KERNEL_BAD_ALIGNMENT);
  refuses([](BkMoeGate& g) { g.logits = nullptr; }, BK_KERNEL_BAD_ARGUMENT);
  CHECK(std::isnan(c.logits.read()[0]));
}

}  // namespace
}  // namespace bk::kernels
