#pragma once

#include "common/device.cuh"
#include "moe_gate/moe_gate.h"

// A block's share of the projection: 16 experts and a slice of the inner dimension, dealt out to its warps.
namespace bk::kernels {

constexpr int kGroup = 16;
constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;

/// What a warp multiplies in kSteps steps of 32 of the inner dimension. A lane loads 8 neighbours of k at a time, for
/// the weights and for x alike: the order of k inside a tile does not matter to a dot product, and the loads stay 16
/// bytes wide without shared memory.
template <int kTiles, int kSteps>
struct Operands {
  uint4 upper[kSteps];
  uint4 lower[kSteps];
  uint4 x[kSteps][kTiles];
};

template <int kTiles, int kSteps>
__device__ inline void load(const BkMoeGate& gate, int row, int k_begin, Operands<kTiles, kSteps>& operands) {
  const int lane = threadIdx.x % 32;
  const auto* w = static_cast<const __nv_bfloat16*>(gate.w) + static_cast<std::int64_t>(row + lane / 4) * gate.k +
                  k_begin + lane % 4 * 8;
  const auto* x = static_cast<const __nv_bfloat16*>(gate.x) + k_begin + lane % 4 * 8;
  const std::int64_t below = std::int64_t{8} * gate.k;
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    operands.upper[step] = load_streaming(w + step * 32);
    operands.lower[step] = load_streaming(w + below + step * 32);
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const int token = tile * 8 + lane / 4;
      operands.x[step][tile] = make_uint4(0, 0, 0, 0);
      if (token < gate.m) operands.x[step][tile] = load_cached(x + token * gate.x_stride + step * 32);
    }
  }
}

/// Few tiles make two chains of products, as one product waits for the one before; many would run out of registers.
template <int kTiles, int kSteps>
__device__ inline void multiply(const Operands<kTiles, kSteps>& operands, float (&sum)[kTiles][4]) {
  float other[kTiles][4] = {};
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const uint4& a = operands.upper[step];
    const uint4& b = operands.lower[step];
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const uint4& v = operands.x[step][tile];
      mma_bf16(sum[tile], a.x, b.x, a.y, b.y, v.x, v.y);
      mma_bf16(kTiles < 4 ? other[tile] : sum[tile], a.z, b.z, a.w, b.w, v.z, v.w);
    }
  }
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sum[tile][i] += other[tile][i];
  }
}

/// A block's sums, before they are added over its warps.
template <int kTiles>
using Partial = float[kWarps][kTiles * 8][kGroup + 1];

template <int kTiles>
__device__ inline void gather(const float (&sum)[kTiles][4], Partial<kTiles>& partial) {
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
    const int token = tile * 8 + lane % 4 * 2;
    partial[warp][token][lane / 4] = sum[tile][0];
    partial[warp][token + 1][lane / 4] = sum[tile][1];
    partial[warp][token][lane / 4 + 8] = sum[tile][2];
    partial[warp][token + 1][lane / 4 + 8] = sum[tile][3];
  }
  __syncthreads();
}

template <int kTiles>
__device__ inline float add_warps(const Partial<kTiles>& partial, int token, int expert) {
  float total = 0;
#pragma unroll
  for (int warp = 0; warp < kWarps; ++warp) total += partial[warp][token][expert];
  return total;
}

/// Deals the sums of a block out to its threads.
template <int kTiles, class Do>
__device__ inline void for_sums(int m, const Do& with) {
#pragma unroll
  for (int first = 0; first < kTiles * 8 * kGroup; first += kThreads) {
    const int i = first + static_cast<int>(threadIdx.x);
    if (i < kGroup * m) with(i / kGroup, i % kGroup);
  }
}

template <int kTiles, int kSteps>
__device__ inline void multiply_share(const BkMoeGate& gate, int slice, int slices, int row, float (&sum)[kTiles][4]) {
  const int share = gate.k / (slices * kWarps);
  const int begin = (slice * kWarps + static_cast<int>(threadIdx.x) / 32) * share;
  if constexpr (kSteps > 0) {
    Operands<kTiles, kSteps> operands;
    load<kTiles, kSteps>(gate, row, begin, operands);
    multiply<kTiles, kSteps>(operands, sum);
  } else {
#pragma unroll 2
    for (int at = begin; at < begin + share; at += 32) {
      Operands<kTiles, 1> operands;
      load<kTiles, 1>(gate, row, at, operands);
      multiply<kTiles, 1>(operands, sum);
    }
  }
}

}  // namespace bk::kernels
