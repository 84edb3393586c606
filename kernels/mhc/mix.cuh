#pragma once

#include "common/device.cuh"
#include "mhc/mhc.h"

namespace bk::kernels {

constexpr int kStreams = 4;
constexpr int kMixes = 24;
constexpr float kMhcEps = 1e-6f;
constexpr int kUnit = 32;  // columns of a warp's unit: 8 a lane, 4 lanes a row

/// Takes the leading bf16 digits off 8 fp32 numbers, as four pairs. fp32's 24 digits are three times bf16's 8, so three
/// turns leave nothing, and products with bf16 lose nothing before they are added.
__device__ inline void take_digits(float (&f)[8], std::uint32_t (&pairs)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t low = __float_as_uint(f[2 * i]);
    const std::uint32_t high = __float_as_uint(f[2 * i + 1]);
    pairs[i] = __byte_perm(low, high, 0x7632);
    f[2 * i] -= __uint_as_float(low & 0xffff0000u);
    f[2 * i + 1] -= __uint_as_float(high & 0xffff0000u);
  }
}

/// Adds one unit: kTiles * 16 tokens (this lane's rows lane/4, 8 further, ...) by 8 outputs, of which the lane has the
/// numbers of fn of output lane/4.
template <int kTiles>
__device__ inline void multiply_unit(const uint4 (&x)[2 * kTiles], const uint4& near, const uint4& far,
                                     float (&sum)[kTiles][4]) {
  const std::uint32_t bits[8] = {near.x, near.y, near.z, near.w, far.x, far.y, far.z, far.w};
  float f[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) f[i] = __uint_as_float(bits[i]);
#pragma unroll
  for (int turn = 0; turn < 3; ++turn) {
    std::uint32_t w[4];
    take_digits(f, w);
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      mma_bf16(sum[tile], x[2 * tile].x, x[2 * tile + 1].x, x[2 * tile].y, x[2 * tile + 1].y, w[0], w[1]);
    }
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      mma_bf16(sum[tile], x[2 * tile].z, x[2 * tile + 1].z, x[2 * tile].w, x[2 * tile + 1].w, w[2], w[3]);
    }
  }
}

__device__ inline void widen8(const uint4& v, float (&f)[8]) {
  const std::uint32_t pairs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    f[2 * i] = bf16_low(pairs[i]);
    f[2 * i + 1] = bf16_high(pairs[i]);
  }
}

__device__ inline uint4 narrow8(const float (&f)[8]) {
  std::uint32_t pairs[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(f[2 * i], f[2 * i + 1]);
    pairs[i] = *reinterpret_cast<const std::uint32_t*>(&pair);
  }
  return make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
}

/// A rounded layer input, evened out by `even` and weighed by `norm`, 8 bf16 each.
__device__ inline uint4 normed8(const uint4& rounded, float even, const __nv_bfloat16* norm) {
  float f[8], w[8];
  widen8(rounded, f);
  widen8(load_cached(norm), w);
#pragma unroll
  for (int i = 0; i < 8; ++i) f[i] = f[i] * even * w[i];
  return narrow8(f);
}

__device__ inline float squares8(const uint4& v, float sum) {
  float f[8];
  widen8(v, f);
#pragma unroll
  for (int i = 0; i < 8; ++i) sum = fmaf(f[i], f[i], sum);
  return sum;
}

__device__ inline float inverse_of(float value) {
  float out;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(value));
  return out;
}

__device__ inline float sigmoid(float value) { return inverse_of(1.0f + __expf(-value)); }

/// The affine mix of this lane's output (lanes 0 to 23), from its projection and the token's root mean square.
__device__ inline float affine_mix(const BkMhcPre& job, float projection, float shrink) {
  const int lane = threadIdx.x % 32;
  if (lane >= kMixes) return 0.0f;
  const float scale = __ldg(job.scale + (lane < 4 ? 0 : lane < 8 ? 1 : 2));
  return fmaf(projection * shrink, scale, __ldg(job.base + lane));
}

/// A warp that holds the 24 mixes writes post and comb of one token. Every lane keeps the whole matrix: shuffles would
/// take longer than the sums.
__device__ inline void write_post_comb(const BkMhcPre& job, float mix, std::int64_t token) {
  const int lane = threadIdx.x % 32;
  if (lane >= 4 && lane < 8) job.post[token * 4 + lane - 4] = 2.0f * sigmoid(mix);
  float m[4][4];
#pragma unroll
  for (int i = 0; i < 16; ++i) m[i / 4][i % 4] = __shfl_sync(0xffffffffu, mix, 8 + i);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float top = fmaxf(fmaxf(m[j][0], m[j][1]), fmaxf(m[j][2], m[j][3]));
#pragma unroll
    for (int k = 0; k < 4; ++k) m[j][k] = __expf(m[j][k] - top);
    const float inverse = inverse_of((m[j][0] + m[j][1]) + (m[j][2] + m[j][3]));
#pragma unroll
    for (int k = 0; k < 4; ++k) m[j][k] = fmaf(m[j][k], inverse, kMhcEps);
  }
#pragma unroll 1
  for (int round = 0; round < 20; ++round) {
    if (round > 0) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float inverse = inverse_of((m[j][0] + m[j][1]) + (m[j][2] + (m[j][3] + kMhcEps)));
#pragma unroll
        for (int k = 0; k < 4; ++k) m[j][k] *= inverse;
      }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float inverse = inverse_of((m[0][k] + m[1][k]) + (m[2][k] + (m[3][k] + kMhcEps)));
#pragma unroll
      for (int j = 0; j < 4; ++j) m[j][k] *= inverse;
    }
  }
  if (lane < 4) {
    const float4 row = lane == 0   ? make_float4(m[0][0], m[0][1], m[0][2], m[0][3])
                       : lane == 1 ? make_float4(m[1][0], m[1][1], m[1][2], m[1][3])
                       : lane == 2 ? make_float4(m[2][0], m[2][1], m[2][2], m[2][3])
                                   : make_float4(m[3][0], m[3][1], m[3][2], m[3][3]);
    *reinterpret_cast<float4*>(job.comb + token * 16 + lane * 4) = row;
  }
}

}  // namespace bk::kernels
