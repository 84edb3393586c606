#include <cmath>
#include <tuple>

#include "common/device_test_support.h"
#include "mhc/mhc.h"
#include "mhc/reference.h"

namespace bk::kernels {
namespace {

struct Case {
  Case(Draw& draw, int tokens, int hidden, bool normed)
      : t(tokens),
        h(hidden),
        x(draw.bf16(static_cast<std::size_t>(tokens) * 4 * hidden, 1.0f)),
        y(draw.bf16(static_cast<std::size_t>(tokens) * hidden, 1.0f)),
        norm(normed ? draw.bf16(hidden, 1.0f) : std::vector<std::uint16_t>()),
        fn(draw.floats(static_cast<std::size_t>(24) * 4 * hidden, 1.0f / std::sqrt(4.0f * static_cast<float>(hidden)))),
        scale(draw.floats(3, 1.0f)),
        base(draw.floats(24, 1.0f)),
        dx(x),
        dy(y),
        dnorm(normed ? norm : std::vector<std::uint16_t>(8)),
        dfn(fn),
        dscale(scale),
        dbase(base),
        post(static_cast<std::size_t>(tokens) * 4),
        comb(static_cast<std::size_t>(tokens) * 16),
        layer_in(y.size()),
        out(x.size()),
        workspace(bk_mhc_workspace_bytes(hidden)) {}

  BkMhcPre pre() const {
    return {dx.get(),   dfn.get(),  dscale.get(),   dbase.get(),     norm.empty() ? nullptr : dnorm.get(),
            post.get(), comb.get(), layer_in.get(), workspace.get(), t,
            h};
  }
  BkMhcPost after() const { return {dx.get(), dy.get(), post.get(), comb.get(), out.get(), t, h}; }
  void poison() {
    post.poison();
    comb.poison();
    layer_in.poison();
    out.poison();
  }

  int t, h;
  std::vector<std::uint16_t> x, y, norm;
  std::vector<float> fn, scale, base;
  DeviceArray<std::uint16_t> dx, dy, dnorm;
  DeviceArray<float> dfn, dscale, dbase, post, comb;
  DeviceArray<std::uint16_t> layer_in, out;
  DeviceArray<unsigned char> workspace;
};

/// ||got - want|| / ||want||; NaN stays NaN.
double relative(const std::vector<double>& got, const std::vector<double>& want) {
  double off = 0;
  double size = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    off += (got[i] - want[i]) * (got[i] - want[i]);
    size += want[i] * want[i];
  }
  return std::sqrt(off / size);
}

template <class T>
std::vector<double> part(const std::vector<T>& all, std::size_t begin, std::size_t count) {
  std::vector<double> out;
  for (std::size_t i = begin; i < begin + count; ++i) {
    if constexpr (std::is_same_v<T, float>) {
      out.push_back(static_cast<double>(all[i]));
    } else {
      out.push_back(static_cast<double>(from_bf16(all[i])));
    }
  }
  return out;
}

void check_pre(const Case& c) {
  const std::vector<float> post = c.post.read();
  const std::vector<float> comb = c.comb.read();
  const std::vector<std::uint16_t> layer_in = c.layer_in.read();
  const auto h = static_cast<std::size_t>(c.h);
  double worst_post = 0;
  double worst_comb = 0;
  double worst_in = 0;
  const std::size_t step = c.t > 64 ? 37 : 1;
  for (std::size_t token = 0; token < static_cast<std::size_t>(c.t); token += step) {
    const MhcToken want =
        reference_mhc_pre(std::span(c.x).subspan(token * 4 * h, 4 * h), c.fn, c.scale, c.base, c.norm);
    const auto raise = [](double& worst, double error) { worst = error <= worst ? worst : error; };
    raise(worst_post, relative(part(post, token * 4, 4), want.post));
    raise(worst_comb, relative(part(comb, token * 16, 16), want.comb));
    raise(worst_in, relative(part(layer_in, token * h, h), want.layer_in));
  }
  CHECK(worst_post < 3e-6);
  CHECK(worst_comb < 1e-5);
  CHECK(worst_in < (c.norm.empty() ? 0x1p-9 : 0x1p-8));  // one rounding to bf16, or two
}

void check_post(const Case& c) {
  const std::vector<float> post = c.post.read();
  const std::vector<float> comb = c.comb.read();
  const std::vector<std::uint16_t> out = c.out.read();
  const auto h = static_cast<std::size_t>(c.h);
  double worst = 0;
  for (std::size_t token = 0; token<static_cast<std::size_t>(c.t); token += c.t> 64 ? 37 : 1) {
    const std::vector<double> want =
        reference_mhc_post(std::span(c.x).subspan(token * 4 * h, 4 * h), std::span(c.y).subspan(token * h, h),
                           std::span(post).subspan(token * 4, 4), std::span(comb).subspan(token * 16, 16));
    const double error = relative(part(out, token * 4 * h, 4 * h), want);
    worst = error <= worst ? worst : error;
  }
  CHECK(worst < 2e-3);
}

TEST_CASE("mhc before and after a layer give the reference's numbers, on both paths") {
  Draw draw;
  const int shapes[][3] = {{1, 4096, 0},  {6, 4096, 0},   {6, 4096, 1},   {16, 4096, 1}, {17, 4096, 0},
                           {24, 4096, 1}, {3, 512, 1},    {40, 512, 1},   {33, 1024, 0}, {7, 1536, 0},
                           {19, 1536, 1}, {50, 2560, 0},  {31, 3072, 1},  {18, 3584, 0}, {700, 4096, 1},
                           {12, 2048, 0}, {129, 2048, 1}, {513, 4096, 1}, {600, 512, 0}, {530, 2560, 1}};
  for (const auto& [t, h, normed] : shapes) {
    INFO("seed " << draw.seed() << " t " << t << " h " << h << " norm " << normed);
    const Case c(draw, t, h, normed != 0);
    const BkMhcPre pre = c.pre();
    REQUIRE(bk_mhc_pre(&pre, nullptr) == BK_KERNEL_OK);
    check_pre(c);
    const BkMhcPost post = c.after();
    REQUIRE(bk_mhc_post(&post, nullptr) == BK_KERNEL_OK);
    check_post(c);
  }
}

TEST_CASE("a thousand launches agree bit for bit, and a graph replays them") {
  Draw draw;
  for (const int t : {6, 100}) {
    Case c(draw, t, 4096, true);
    const BkMhcPre pre = c.pre();
    const BkMhcPost post = c.after();
    std::vector<std::uint16_t> first_in, first_out;
    int differing = 0;
    const auto compare = [&] {
      if (first_in.empty()) {
        first_in = c.layer_in.read();
        first_out = c.out.read();
      }
      differing += c.layer_in.read() != first_in || c.out.read() != first_out ? 1 : 0;
      c.poison();
    };
    for (int i = 0; i < 1000; ++i) {
      REQUIRE(bk_mhc_pre(&pre, nullptr) == BK_KERNEL_OK);
      REQUIRE(bk_mhc_post(&post, nullptr) == BK_KERNEL_OK);
      compare();
    }
    replay_captured([&](void* stream) { return bk_mhc_pre(&pre, stream); },
                    [&] {
                      REQUIRE(bk_mhc_post(&post, nullptr) == BK_KERNEL_OK);
                      compare();
                    },
                    t > 16 ? 2 : 1);
    CHECK(differing == 0);
  }
}

TEST_CASE("after one layer and before the next in one launch gives the bits of the two launches") {
  Draw draw;
  for (const auto& [t, h, normed] :
       {std::tuple{1, 4096, true}, {6, 4096, false}, {16, 4096, true}, {9, 1536, false}, {16, 512, true}}) {
    INFO("seed " << draw.seed() << " t " << t << " h " << h);
    Case c(draw, t, h, normed);
    BkMhcPre first = c.pre();
    REQUIRE(bk_mhc_pre(&first, nullptr) == BK_KERNEL_OK);
    const BkMhcPost post = c.after();
    const DeviceArray<float> next_post(static_cast<std::size_t>(t) * 4), next_comb(static_cast<std::size_t>(t) * 16);
    BkMhcPre next = first;
    next.x = c.out.get();
    next.post = next_post.get();
    next.comb = next_comb.get();
    REQUIRE(bk_mhc_post(&post, nullptr) == BK_KERNEL_OK);
    REQUIRE(bk_mhc_pre(&next, nullptr) == BK_KERNEL_OK);
    const auto out = c.out.read();
    const auto layer_in = c.layer_in.read();
    const auto comb = next_comb.read();
    c.out.poison();
    c.layer_in.poison();
    REQUIRE(bk_mhc_post_pre(&post, &next, nullptr) == BK_KERNEL_OK);
    CHECK(c.out.read() == out);
    CHECK(c.layer_in.read() == layer_in);
    CHECK(next_comb.read() == comb);
    next.t = 17;
    CHECK(bk_mhc_post_pre(&post, &next, nullptr) == BK_KERNEL_BAD_SHAPE);
    next = first;
    CHECK(bk_mhc_post_pre(&post, &next, nullptr) == BK_KERNEL_BAD_ARGUMENT);
  }
}

TEST_CASE("NaN stays with its token, and the result may lie over the residual") {
  Draw draw;
  for (const int t : {5, 20}) {
    Case c(draw, t, 1024, false);
    c.x[2 * 4096 + 77] = to_bf16(NAN);
    const DeviceArray<std::uint16_t> x(c.x);
    BkMhcPre pre = c.pre();
    pre.x = x.get();
    REQUIRE(bk_mhc_pre(&pre, nullptr) == BK_KERNEL_OK);
    BkMhcPost post = c.after();
    post.x = x.get();
    REQUIRE(bk_mhc_post(&post, nullptr) == BK_KERNEL_OK);
    const std::vector<std::uint16_t> apart = c.out.read();
    post.out = x.get();
    REQUIRE(bk_mhc_post(&post, nullptr) == BK_KERNEL_OK);
    CHECK(x.read() == apart);
    const std::vector<float> comb = c.comb.read();
    for (int token = 0; token < t; ++token) CHECK(std::isnan(comb[token * 16]) == (token == 2));
  }
}

TEST_CASE("the streams joined after the last layer are the reference's, whatever the number of tokens") {
  Draw draw;
  for (const auto& [t, h] : {std::pair{1, 4096}, {6, 4096}, {3, 8}, {5, 1544}, {256, 512}, {257, 512}, {1030, 1024}}) {
    INFO("seed " << draw.seed() << " t " << t << " h " << h);
    const std::size_t wide = static_cast<std::size_t>(h) * 4;
    std::vector<std::uint16_t> x = draw.bf16(wide * t, 1.0f);
    if (t > 2) x[2 * wide + 5] = to_bf16(NAN);
    const std::vector<float> fn = draw.floats(4 * wide, 0.02f), base = draw.floats(4, 1.0f),
                             scale = draw.floats(1, 1.0f);
    const DeviceArray<std::uint16_t> dx(x);
    DeviceArray<std::uint16_t> out(static_cast<std::size_t>(t) * h);
    const DeviceArray<float> dfn(fn), dbase(base), dscale(scale);
    const BkMhcHead job{dx.get(), dfn.get(), dscale.get(), dbase.get(), out.get(), t, h};
    REQUIRE(bk_mhc_head(&job, nullptr) == BK_KERNEL_OK);
    const std::vector<std::uint16_t> got = out.read();
    double error = 0, norm = 0;
    for (const int token : {0, 1, t / 2, t - 1}) {
      if (token == 2 || token >= t) continue;
      const auto want = reference_mhc_head(std::span(x).subspan(token * wide, wide), fn, scale[0], base);
      for (int i = 0; i < h; ++i) {
        const double off = static_cast<double>(from_bf16(got[static_cast<std::size_t>(token) * h + i])) - want[i];
        error += off * off;
        norm += want[i] * want[i];
      }
    }
    CHECK(std::sqrt(error / norm) < 2e-3);
    if (t > 2) CHECK(std::isnan(from_bf16(got[2 * static_cast<std::size_t>(h)])));
    int differing = 0;
    for (int i = 0; i < 1000; ++i) {
      REQUIRE(bk_mhc_head(&job, nullptr) == BK_KERNEL_OK);
      if (i % 100 == 99) differing += out.read() != got ? 1 : 0;
    }
    replay_captured([&](void* stream) { return bk_mhc_head(&job, stream); },
                    [&] {
                      differing += out.read() != got ? 1 : 0;
                      out.poison();
                    });
    CHECK(differing == 0);
  }
  BkMhcHead bad{};
  CHECK(bk_mhc_head(&bad, nullptr) == BK_KERNEL_BAD_ARGUMENT);
  alignas(16) float some[8] = {};
  bad = {some, some, some, some, some, 0, 8};
  CHECK(bk_mhc_head(&bad, nullptr) == BK_KERNEL_BAD_SHAPE);
  bad.t = 1;
  bad.h = 12;
  CHECK(bk_mhc_head(&bad, nullptr) == BK_KERNEL_BAD_SHAPE);
  bad.h = 8;
  bad.fn = some + 1;
  CHECK(bk_mhc_head(&bad, nullptr) == BK_KERNEL_BAD_ALIGNMENT);
}

TEST_CASE("mhc refuses what it cannot do, and launches nothing") {
  Draw draw;
  const Case c(draw, 2, 512, true);
  const auto refuses = [&](auto change, int status) {
    BkMhcPre pre = c.pre();
    change(pre);
    CHECK(bk_mhc_pre(&pre, nullptr) == status);
  };
  refuses([](BkMhcPre& p) { p.t = 0; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkMhcPre& p) { p.t = 65537; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkMhcPre& p) { p.h = 500; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkMhcPre& p) { p.h = 4608; }, BK_KERNEL_BAD_SHAPE);
  refuses([](BkMhcPre& p) { p.x = static_cast<const char*>(p.x) + 2; }, BK_KERNEL_BAD_ALIGNMENT);
  refuses([](BkMhcPre& p) { p.workspace = nullptr; }, BK_KERNEL_BAD_ARGUMENT);
  BkMhcPost post = c.after();
  post.t = 0;
  CHECK(bk_mhc_post(&post, nullptr) == BK_KERNEL_BAD_SHAPE);
  post = c.after();
  post.out = static_cast<char*>(post.out) + 2;
  CHECK(bk_mhc_post(&post, nullptr) == BK_KERNEL_BAD_ALIGNMENT);
  CHECK(std::isnan(from_bf16(c.layer_in.read()[0])));
}

}  // namespace
}  // namespace bk::kernels
