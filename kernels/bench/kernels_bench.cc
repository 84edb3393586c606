// The kernels at the shapes of one decode step, timed by Google Benchmark: weights of every call at an address of their
// own, in a captured graph, the result checked first. Without a GPU it says so and ends.
#include <cstdio>

#include "fp8_head/fp8_head.h"
#include "fp8_head/reference.h"
#include "graph_bench.h"
#include "indexer/indexer.h"
#include "indexer/reference.h"
#include "markov_topk/markov_topk.h"
#include "markov_topk/reference.h"
#include "mhc/mhc.h"
#include "mhc/reference.h"
#include "moe_gate/moe_gate.h"
#include "moe_gate/reference.h"

namespace bk::kernels {
namespace {

using Calls = std::vector<std::function<int(void*)>>;

void router(benchmark::State& state, bool whole) {
  const int m = static_cast<int>(state.range(0)), n = 256, k = 4096, top = 6;
  const auto x = normal_bf16(static_cast<std::size_t>(m) * k, 1), w = normal_bf16(std::size_t{256} * k, 1.0f / 64);
  const auto bias = normal_fp32(n, 1.0f / 16);
  const auto ws = copies(w, 64);
  const Block dx(x), dbias(bias), logits(sizeof(float) * m * n), weights(sizeof(float) * m * top),
      ids(sizeof(int) * m * top);
  const Block workspace(bk_moe_workspace_bytes(n));
  workspace.fill(0xff);
  Calls calls;
  for (const auto& each : ws) {
    const BkMoeGate gate{
        dx.as<void>(), each->as<void>(), whole ? nullptr : logits.as<float>(), workspace.as<void>(), k, m, n, k};
    const BkMoeRoute route{
        dbias.as<float>(), weights.as<float>(), ids.as<std::int32_t>(), BK_MOE_SQRTSOFTPLUS, top, 1, 1.5f};
    calls.push_back(
        [=](void* stream) { return whole ? bk_moe_route(&gate, &route, stream) : bk_moe_gate(&gate, stream); });
  }
  const auto error = [&] {
    const std::vector<double> want = reference_logits(x, w, m, n, k, k);
    RelativeError off;
    for (int token = 0; token < m && whole; ++token) {
      const auto row = std::span(want).subspan(static_cast<std::size_t>(token) * n, n);
      const Routed routed = reference_route(row, bias, BK_MOE_SQRTSOFTPLUS, top, true, 1.5);
      for (int i = 0; i < top; ++i)
        off.add(static_cast<double>(weights.read<float>()[token * top + i]), routed.weights[i]);
    }
    const std::vector<float> got = whole ? std::vector<float>{} : logits.read<float>();
    for (std::size_t i = 0; i < got.size(); ++i) off.add(static_cast<double>(got[i]), want[i]);
    return off.value();
  };
  time_in_graph(state, calls, error, whole ? 1e-3 : 1e-5);
}

void fp8_head(benchmark::State& state) {
  const int v = static_cast<int>(state.range(0)), m = static_cast<int>(state.range(1)), k = 4096;
  const auto x = normal_bf16(static_cast<std::size_t>(m) * k, 1),
             w = normal_bf16(static_cast<std::size_t>(v) * k, 1.0f / 64);
  const Block dx(x), dw(w), scale(sizeof(float) * v), logits(sizeof(float) * m * v);
  std::vector<std::unique_ptr<Block>> w8s;
  Calls calls;
  for (int i = 0; i < (v > 100000 ? 2 : 4); ++i) {
    w8s.push_back(std::make_unique<Block>(static_cast<std::size_t>(v) * k));
    const BkFp8Quantise job{dw.as<void>(), w8s.back()->as<void>(), scale.as<float>(), v, k};
    if (bk_fp8_quantise(&job, nullptr) != 0) state.SkipWithError("the quantiser refused");
    const BkFp8Head head{dx.as<void>(), w8s.back()->as<void>(), scale.as<float>(), logits.as<void>(), k, v, m, v, k, 1};
    calls.push_back([head](void* stream) { return bk_fp8_head(&head, stream); });
  }
  cudaDeviceSynchronize();
  const auto error = [&] {
    RelativeError off;
    const std::vector<float> got = logits.read<float>();
    for (int row = 0; row < v; row += 997) {
      const QuantisedRow narrow = reference_quantise(std::span(w).subspan(static_cast<std::size_t>(row) * k, k));
      for (int token = 0; token < m; ++token) {
        const auto of = std::span(x).subspan(static_cast<std::size_t>(token) * k, k);
        off.add(static_cast<double>(got[static_cast<std::size_t>(token) * v + row]),
                reference_head(of, narrow.bytes, narrow.scale));
      }
    }
    return off.value();
  };
  time_in_graph(state, calls, error, 1e-5);
}

void markov(benchmark::State& state) {
  const int b = static_cast<int>(state.range(0)), v = 129280, count = 512;
  const auto w1 = normal_bf16(std::size_t{129280} * 256, 1.0f / 16), w2 = normal_bf16(std::size_t{129280} * 256, 1);
  const auto base = normal_fp32(static_cast<std::size_t>(b) * count, 1);
  std::vector<std::int64_t> idx, prev;
  for (int request = 0; request < b; ++request) {
    prev.push_back(7919 * (request + 1));
    for (int i = 0; i < count; ++i) idx.push_back((std::int64_t{i} * 251 + request * 17) % v);
  }
  const Block dw1(w1), dw2(w2), dbase(base), didx(idx), dprev(prev);
  std::vector<std::unique_ptr<Block>> outs;
  Calls calls;
  for (int i = 0; i < 96; ++i) {
    outs.push_back(std::make_unique<Block>(sizeof(float) * b * v));
    const BkMarkovTopk job{dbase.as<void>(),
                           didx.as<std::int64_t>(),
                           dprev.as<std::int64_t>(),
                           dw1.as<void>(),
                           dw2.as<void>(),
                           outs.back()->as<void>(),
                           v,
                           b,
                           count,
                           v,
                           1};
    calls.push_back([job](void* stream) { return bk_markov_topk(&job, stream); });
  }
  const auto error = [&] {
    RelativeError off;
    const std::vector<float> got = outs.front()->read<float>();
    for (int request = 0; request < b; ++request) {
      const auto at = static_cast<std::size_t>(request);
      const auto want = reference_markov(std::span(base).subspan(at * count, count),
                                         std::span(idx).subspan(at * count, count), prev[at], w1, w2, v);
      for (int i = 0; i < v; ++i) {
        const auto value = static_cast<double>(got[at * v + i]);
        if (std::isinf(want[i]) != std::isinf(value)) return HUGE_VAL;
        if (!std::isinf(value)) off.add(value, want[i]);
      }
    }
    return off.value();
  };
  time_in_graph(state, calls, error, 1e-5);
}

void mhc(benchmark::State& state) {
  const int t = static_cast<int>(state.range(0)), h = 4096, wide = 4 * h;
  const auto x = normal_bf16(static_cast<std::size_t>(t) * wide, 1);
  const auto fn = normal_fp32(std::size_t{24} * wide, 1.0f / 128), scale = normal_fp32(3, 1), base = normal_fp32(24, 1);
  const auto fns = copies(fn, 64);
  const Block dx(x), dscale(scale), dbase(base), post(sizeof(float) * t * 4), comb(sizeof(float) * t * 16);
  const Block layer_in(sizeof(std::uint16_t) * t * h), workspace(bk_mhc_workspace_bytes(h));
  workspace.fill(0xff);
  Calls calls;
  for (const auto& each : fns) {
    const BkMhcPre job{dx.as<void>(),
                       each->as<float>(),
                       dscale.as<float>(),
                       dbase.as<float>(),
                       nullptr,
                       post.as<float>(),
                       comb.as<float>(),
                       layer_in.as<void>(),
                       workspace.as<void>(),
                       t,
                       h};
    calls.push_back([job](void* stream) { return bk_mhc_pre(&job, stream); });
  }
  const auto error = [&] {
    RelativeError off;
    const auto got = layer_in.read<std::uint16_t>();
    for (int token = 0; token < t; token += std::max(t / 4, 1)) {
      const auto at = static_cast<std::size_t>(token);
      const MhcToken want = reference_mhc_pre(std::span(x).subspan(at * wide, wide), fn, scale, base, {});
      for (int i = 0; i < h; ++i) off.add(static_cast<double>(from_bf16(got[at * h + i])), want.layer_in[i]);
    }
    return off.value();
  };
  time_in_graph(state, calls, error, 2e-3);
}

void index_scores(benchmark::State& state) {
  const int t = 6, s = static_cast<int>(state.range(0));
  std::vector<std::uint8_t> q8, k8;
  for (const float value : normal_fp32(std::size_t{6} * 64 * 128, 40))
    q8.push_back(to_e4m3(static_cast<double>(value)));
  for (const float value : normal_fp32(static_cast<std::size_t>(s) * 128, 40))
    k8.push_back(to_e4m3(static_cast<double>(value)));
  const auto weight = normal_fp32(std::size_t{6} * 64, 1), k_scale = normal_fp32(s, 1);
  const auto keys = copies(k8, 24);
  const Block dq(q8), dweight(weight), dscale(k_scale), bound(std::vector<std::int32_t>(t, s)),
      scores(sizeof(float) * t * s);
  Calls calls;
  for (const auto& each : keys) {
    const BkIndexerScores job{dq.as<void>(),
                              dweight.as<float>(),
                              each->as<void>(),
                              dscale.as<float>(),
                              bound.as<std::int32_t>(),
                              scores.as<float>(),
                              s,
                              t,
                              s};
    calls.push_back([job](void* stream) { return bk_indexer_scores(&job, stream); });
  }
  const auto error = [&] {
    RelativeError off;
    const std::vector<float> got = scores.read<float>();
    for (int row = 0; row < t; ++row) {
      const auto at = static_cast<std::size_t>(row);
      for (int i = 0; i < s; i += 61) {
        off.add(static_cast<double>(got[at * s + i]),
                reference_index_score(std::span(q8).subspan(at * 64 * 128, 64 * 128),
                                      std::span(weight).subspan(at * 64, 64),
                                      std::span(k8).subspan(static_cast<std::size_t>(i) * 128, 128), k_scale[i]));
      }
    }
    return off.value();
  };
  time_in_graph(state, calls, error, 1e-5);
}

BENCHMARK_CAPTURE(router, moe_gate, false)
    ->Arg(1)
    ->Arg(6)
    ->Arg(16)
    ->Arg(32)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(router, moe_route, true)->Arg(1)->Arg(6)->Arg(24)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(fp8_head)->Args({32320, 6})->Args({129280, 6})->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(markov)->Arg(1)->Arg(4)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(mhc)->Arg(6)->Arg(64)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(index_scores)->Arg(8192)->Arg(32768)->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace bk::kernels

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: no GPU");
    return 77;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
