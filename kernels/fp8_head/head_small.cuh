#pragma once

#include <cuda_fp16.h>

#include "common/fp8.cuh"
#include "fp8_head/fp8_head.h"

// Up to 8 tokens. A block reads 16 rows of the weights at a time, which are one stretch of memory; each warp has 256
// columns of its own and keeps its part of x in registers for the whole launch. Every thread copies what it will
// multiply itself into a ring in shared memory, so the copies run far ahead and need no barrier. The weights become
// fp16 by the hardware's conversion, so x is fp16 too, each token scaled by a power of two that puts its largest value
// near 2^14: what lies 28 binades below is exact.
namespace bk::kernels {

constexpr int kSmallTokens = 8;
constexpr int kSmallRows = 16;
constexpr int kSmallSlice = 256;  // columns of a warp
constexpr int kSmallSteps = 4;    // of 64 columns
constexpr int kSmallWarps = 16;

/// A piece of a tile: half of each warp's columns, 16 rows of 128 bytes.
constexpr int kPieceSteps = 2;
constexpr int kPieceRowBytes = 64 * kPieceSteps;
constexpr int kPieceWarpBytes = kSmallRows * kPieceRowBytes;
constexpr int kPieceBytes = kPieceWarpBytes * kSmallWarps;
/// Where 16 bytes of a row lie in a warp's piece: odd rows swap halves, so that neither side meets a bank conflict.
__device__ inline int piece_offset(int row, int chunk) { return row * kPieceRowBytes + (chunk ^ row % 2 * 4) * 16; }

/// Starts the copies of one warp's piece, whole lines of 128 bytes at a time.
__device__ inline void fetch_piece(std::uint32_t slot, const unsigned char* w, int k) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = i * 4 + lane / 8;
    const unsigned char* from = w + static_cast<std::int64_t>(row) * k + lane % 8 * 16;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(slot + piece_offset(row, lane % 8)), "l"(from)
                 : "memory");
  }
}

/// The power of two for a token, as the exponent field of a float, from the largest finite |x|.
__device__ inline std::uint32_t scale_field(float largest) {
  const std::uint32_t field = max(__float_as_uint(largest) >> 23, 1u);
  return min(268u - field, 253u);
}

/// Asks for this warp's columns of x; lane/4 is the token.
__device__ inline void ask_for_x(const BkFp8Head& head, uint4 (&x)[kSmallSteps * 2]) {
  const int lane = threadIdx.x % 32;
  const int token = lane / 4;
  const auto* source = static_cast<const __nv_bfloat16*>(head.x) + token * head.x_stride +
                       threadIdx.x / 32 * kSmallSlice + lane % 4 * 16;
#pragma unroll
  for (int i = 0; i < kSmallSteps * 2; ++i) {
    x[i] = make_uint4(0, 0, 0, 0);
    if (token < head.m) x[i] = load_volatile(source + i / 2 * 64 + i % 2 * 8);
  }
}

/// Turns x into fp16, scaled. `inverse` gets what undoes each token's scale.
__device__ inline void narrow_x(uint4 (&x)[kSmallSteps * 2], float* inverse) {
  __shared__ float largest[kSmallWarps][kSmallTokens];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int token = lane / 4;
  float top = 0;
#pragma unroll
  for (int i = 0; i < kSmallSteps * 2; ++i) {
    asm volatile("" : "+r"(x[i].x), "+r"(x[i].y), "+r"(x[i].z), "+r"(x[i].w));  // not before what was asked for above
    const std::uint32_t pairs[4] = {x[i].x, x[i].y, x[i].z, x[i].w};
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      const float a = fabsf(bf16_low(pairs[p]));
      const float b = fabsf(bf16_high(pairs[p]));
      top = fmaxf(top, fmaxf(isfinite(a) ? a : 0.0f, isfinite(b) ? b : 0.0f));
    }
  }
  top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
  top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
  if (lane % 4 == 0) largest[warp][token] = top;
  __syncthreads();
  const int warps = blockDim.x / 32;
  for (int other = 0; other < warps; ++other) top = fmaxf(top, largest[other][token]);
  const std::uint32_t field = scale_field(top);
  const float scale = __uint_as_float(field << 23);
  if (warp == 0 && lane % 4 == 0) inverse[token] = __uint_as_float((254u - field) << 23);
#pragma unroll
  for (int i = 0; i < kSmallSteps * 2; ++i) {
    std::uint32_t* pairs[4] = {&x[i].x, &x[i].y, &x[i].z, &x[i].w};
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      const __half2 h = __floats2half2_rn(bf16_low(*pairs[p]) * scale, bf16_high(*pairs[p]) * scale);
      *pairs[p] = *reinterpret_cast<const std::uint32_t*>(&h);
    }
  }
  __syncthreads();
}

template <int kHalf>
__device__ inline void multiply_piece(const unsigned char* piece, const uint4 (&x)[kSmallSteps * 2], float (&sum)[4]) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < kPieceSteps; ++i) {
    const int at = piece_offset(lane / 4, i * 4 + lane % 4);
    const uint4 upper = *reinterpret_cast<const uint4*>(piece + at);
    const uint4 lower = *reinterpret_cast<const uint4*>(piece + at + 8 * kPieceRowBytes);
    const std::uint32_t top[4] = {upper.x, upper.y, upper.z, upper.w};
    const std::uint32_t low[4] = {lower.x, lower.y, lower.z, lower.w};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      std::uint32_t a[4];
      widen_fp16(top[j], a[0], a[2]);
      widen_fp16(low[j], a[1], a[3]);
      const uint4& b = x[(kHalf * kPieceSteps + i) * 2 + j / 2];
      mma_fp16(sum, a[0], a[1], a[2], a[3], j % 2 == 0 ? b.x : b.z, j % 2 == 0 ? b.y : b.w);
    }
  }
}

__device__ inline void put_logit(const BkFp8Head& head, int token, int row, float value) {
  const std::int64_t at = token * head.logits_stride + row;
  if (head.logits_fp32 != 0) {
    static_cast<float*>(head.logits)[at] = value;
  } else {
    static_cast<__nv_bfloat16*>(head.logits)[at] = __float2bfloat16_rn(value);
  }
}

/// The sums over the warps, in order, of one tile.
__device__ inline void finish_tile(const BkFp8Head& head, const float (*partial)[kSmallTokens][kSmallRows + 1], int row,
                                   const float* inverse, float scale) {
  const int warps = blockDim.x / 32;
  for (int i = threadIdx.x; i < kSmallRows * head.m; i += blockDim.x) {
    float total = 0;
    for (int other = 0; other < warps; ++other) total += partial[other][i / kSmallRows][i % kSmallRows];
    put_logit(head, i / kSmallRows, row + i % kSmallRows, total * inverse[i / kSmallRows] * scale);
  }
}

/// A warp for every 256 columns. The warps' sums meet in shared memory, two buffers in turn, so a tile costs one
/// barrier.
template <int kDepth>
__global__ __launch_bounds__(32 * kSmallWarps, 1) void head_small_kernel(const __grid_constant__ BkFp8Head head) {
  extern __shared__ __align__(128) unsigned char ring[];
  __shared__ float partial[2][kSmallWarps][kSmallTokens][kSmallRows + 1];
  __shared__ float inverse[kSmallTokens];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const unsigned tiles = head.v / kSmallRows;
  const int slot_bytes = blockDim.x / 32 * kPieceWarpBytes;
  unsigned char* own = ring + warp * kPieceWarpBytes;
  const auto own_shared = static_cast<std::uint32_t>(__cvta_generic_to_shared(own));
  const auto* origin = static_cast<const unsigned char*>(head.w8) + warp * kSmallSlice;
  const auto fetch = [&](int piece) {
    const unsigned tile = blockIdx.x + piece / 2 * gridDim.x;
    if (tile < tiles) {
      fetch_piece(own_shared + piece % kDepth * slot_bytes,
                  origin + std::int64_t{kSmallRows} * tile * head.k + piece % 2 * kPieceRowBytes, head.k);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  const auto await = [&](int piece) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kDepth - 2) : "memory");
    __syncwarp();
    fetch(piece + kDepth - 1);
    return own + piece % kDepth * slot_bytes;
  };
  uint4 x[kSmallSteps * 2];
  ask_for_x(head, x);  // ahead of the weights, or it would wait behind all that the ring asks for
#pragma unroll 1
  for (int piece = 0; piece < kDepth - 1; ++piece) fetch(piece);
  narrow_x(x, inverse);
  for (int turn = 0; blockIdx.x + turn * gridDim.x < tiles; ++turn) {
    const int row = (blockIdx.x + turn * gridDim.x) * kSmallRows;
    const float scale = __ldg(head.scale + row + threadIdx.x % kSmallRows);
    float sum[4] = {};
    multiply_piece<0>(await(2 * turn), x, sum);
    multiply_piece<1>(await(2 * turn + 1), x, sum);
    float(*to)[kSmallTokens][kSmallRows + 1] = partial[turn % 2];
    const int token = lane % 4 * 2;
    to[warp][token][lane / 4] = sum[0];
    to[warp][token + 1][lane / 4] = sum[1];
    to[warp][token][lane / 4 + 8] = sum[2];
    to[warp][token + 1][lane / 4 + 8] = sum[3];
    __syncthreads();
    finish_tile(head, to, row, inverse, scale);
  }
}

}  // namespace bk::kernels
