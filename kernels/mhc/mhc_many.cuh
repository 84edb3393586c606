#pragma once

#include "mhc/mhc_small.cuh"
#include "mhc/mix.cuh"

// Above 16 tokens, two launches. The first multiplies: a block takes 64 tokens and a share of the columns of all four
// streams, so that fn, which every 64 tokens need whole, is read from the L2 cache as seldom as registers allow. A warp
// copies what it will multiply itself into a ring in shared memory, so the copies run ahead and need no barrier. The
// sums of each share go to the workspace. In the second a block has one token: it adds the shares in order and mixes
// the streams; the last tokens come first, as part of them is still in the L2 cache. The Sinkhorn rounds, which would
// hold such a block for as long again, have blocks of their own.
namespace bk::kernels {

constexpr int kManyTokens = 64;
constexpr int kManyTiles = kManyTokens / 16;
constexpr int kManyRows = kManyTokens / 8;  // of a lane: lane/4, 8 further, ...
constexpr int kManyWarps = 4;
constexpr int kManyThreads = 32 * kManyWarps;
constexpr int kManyShares = 32;
constexpr int kManyBlocks = 256;
constexpr int kSums = kMixes + 1;  // the mixes and the sum of squares
constexpr int kMixThreads = 4096 / 8;

/// What a warp copies for one unit: every lane its rows of x, and together the rows of fn, 8 pieces each. Odd rows swap
/// neighbouring pieces, so that reading them meets no bank conflict.
struct ManyStage {
  uint4 x[kManyRows][32];
  uint4 fn[kMixes][8];
};

template <int kDepth>
union ManyScratch {
  ManyStage stage[kManyWarps][kDepth];
  float partial[kManyWarps][kManyTokens][kSums];
};

/// The block's warps take neighbouring units, so what lies around is wanted at once: 256 bytes go to the L2 cache.
__device__ inline void copy16(uint4& to, const void* from, bool real) {
  asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16, %2;" ::"r"(
                   static_cast<std::uint32_t>(__cvta_generic_to_shared(&to))),
               "l"(from), "r"(real ? 16 : 0)
               : "memory");
}

/// Starts copying a unit; `real` is false past the last one, which leaves an empty group of copies.
__device__ inline void fetch_unit(const BkMhcPre& job, int first, int column, bool real, ManyStage& stage) {
  const int lane = threadIdx.x % 32;
  const int width = kStreams * job.h;
  if (real) {
    const auto* x = static_cast<const __nv_bfloat16*>(job.x) + column + lane % 4 * 8;
#pragma unroll
    for (int r = 0; r < kManyRows; ++r) {
      const int token = first + lane / 4 + r * 8;
      copy16(stage.x[r][lane], x + std::int64_t{min(token, job.t - 1)} * width, token < job.t);
    }
    const float* fn = job.fn + lane / 8 * width + column + lane % 8 * 4;
#pragma unroll
    for (int i = 0; i < kMixes / 4; ++i) {
      copy16(stage.fn[i * 4 + lane / 8][lane % 8 ^ lane / 8 % 2], fn + i * 4 * width, true);
    }
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Where the sums of a share begin, for a token.
__device__ inline float* share_sums(const BkMhcPre& job, int share, int token) {
  const int padded = (job.t + kManyTokens - 1) / kManyTokens * kManyTokens;
  return static_cast<float*>(job.workspace) + small_words(job.h) + (std::int64_t{share} * padded + token) * kSums;
}

/// Grid: x has the shares, y the tokens. A share's blocks begin at units of their own, lest all ask for the same piece
/// of fn at once.
template <int kDepth>
__global__ __launch_bounds__(kManyThreads, 2) void mhc_project_kernel(const __grid_constant__ BkMhcPre job) {
  extern __shared__ __align__(16) unsigned char many_shared[];
  auto& scratch = *reinterpret_cast<ManyScratch<kDepth>*>(many_shared);
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int first = blockIdx.y * kManyTokens;
  const int units = kStreams * job.h / kUnit / gridDim.x;
  const int begin = blockIdx.x * units;
  ManyStage* ring = scratch.stage[warp];
  let_next_begin();
  const auto fetch = [&](int turn) {
    const int unit = warp + turn * kManyWarps;
    const int rotated = (unit + blockIdx.y * kManyWarps) % units;
    fetch_unit(job, first, (begin + rotated) * kUnit, unit < units, ring[turn % kDepth]);
  };
  float sum[3][kManyTiles][4] = {};
  float squares[kManyRows] = {};
  for (int turn = 0; turn < kDepth - 1; ++turn) fetch(turn);
#pragma unroll 1
  for (int turn = 0; warp + turn * kManyWarps < units; ++turn) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kDepth - 2) : "memory");
    __syncwarp();
    const ManyStage& stage = ring[turn % kDepth];
    uint4 x[kManyRows];
#pragma unroll
    for (int r = 0; r < kManyRows; ++r) x[r] = stage.x[r][lane];
    fetch(turn + kDepth - 1);
#pragma unroll
    for (int output = 0; output < 3; ++output) {
      const uint4* fn = stage.fn[output * 8 + lane / 4];
      const int piece = lane % 4 * 2;
      const int swapped = lane / 4 % 2;
      multiply_unit<kManyTiles>(x, fn[piece ^ swapped], fn[(piece + 1) ^ swapped], sum[output]);
    }
#pragma unroll
    for (int r = 0; r < kManyRows; ++r) squares[r] = squares8(x[r], squares[r]);
  }
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
#pragma unroll
  for (int at = 0; at < kManyTiles * 12; ++at) {
    const int tile = at / 12;
    const int output = at / 4 % 3;
    const int token = tile * 16 + lane / 4 + at % 4 / 2 * 8;
    scratch.partial[warp][token][output * 8 + lane % 4 * 2 + at % 2] = sum[output][tile][at % 4];
  }
#pragma unroll
  for (int r = 0; r < kManyRows; ++r) {
    float total = squares[r];
    total += __shfl_xor_sync(0xffffffffu, total, 1);
    total += __shfl_xor_sync(0xffffffffu, total, 2);
    if (lane % 4 == 0) scratch.partial[warp][lane / 4 + r * 8][kMixes] = total;
  }
  __syncthreads();
  float* sums = share_sums(job, blockIdx.x, first);
  for (int i = threadIdx.x; i < kManyTokens * kSums; i += kManyThreads) {
    float total = 0;
#pragma unroll
    for (int other = 0; other < kManyWarps; ++other) total += scratch.partial[other][i / kSums][i % kSums];
    sums[i] = total;
  }
}

/// One over the root mean square of a token's layer input, of which every thread passes its part.
__device__ inline float even_out(const float (&input)[8], int h) {
  __shared__ float power[kMixThreads / 32];
  float mine = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) mine = fmaf(input[i], input[i], mine);
  mine = warp_sum(mine);
  if (threadIdx.x % 32 == 0) power[threadIdx.x / 32] = mine;
  __syncthreads();
  float total = 0;
  for (int w = 0; w < h / 8 / 32; ++w) total += power[w];
  return rsqrtf(total / static_cast<float>(h) + kMhcEps);
}

/// This lane's sum of a token over every `step`-th share, from `share` on.
__device__ inline float add_shares(const BkMhcPre& job, int token, int share, int step, int shares) {
  const int lane = threadIdx.x % 32;
  float sum = 0;
#pragma unroll 8
  for (; share < shares; share += step) sum += lane < kSums ? share_sums(job, share, token)[lane] : 0.0f;
  return sum;
}

/// The mix of this lane's output, from the token's sums.
__device__ inline float mix_of(const BkMhcPre& job, float sum) {
  const float squares = __shfl_sync(0xffffffffu, sum, kMixes);
  return affine_mix(job, sum, rsqrtf(squares / static_cast<float>(kStreams * job.h) + kMhcEps));
}

/// A thread has 8 columns of a token.
__device__ inline void mix_token(const BkMhcPre& job, int token, int shares) {
  const int column = threadIdx.x * 8;
  const auto* x = static_cast<const __nv_bfloat16*>(job.x) + std::int64_t{token} * kStreams * job.h + column;
  uint4 stream[kStreams];
#pragma unroll
  for (int j = 0; j < kStreams; ++j) stream[j] = load_streaming(x + j * job.h);
  wait_for_previous();
  __shared__ float sums[kMixThreads / 32][32];
  const int warps = min(static_cast<int>(blockDim.x) / 32, shares);
  const int warp = threadIdx.x / 32;
  if (warp < warps) sums[warp][threadIdx.x % 32] = add_shares(job, token, warp, warps, shares);
  __syncthreads();
  float sum = 0;
  for (int other = 0; other < warps; ++other) sum += sums[other][threadIdx.x % 32];
  const float pre = sigmoid(mix_of(job, sum)) + kMhcEps;
  float input[8] = {};
#pragma unroll
  for (int j = 0; j < kStreams; ++j) {
    const float factor = __shfl_sync(0xffffffffu, pre, j);
    float f[8];
    widen8(stream[j], f);
#pragma unroll
    for (int i = 0; i < 8; ++i) input[i] = fmaf(factor, f[i], input[i]);
  }
  uint4 out = narrow8(input);
  if (job.norm != nullptr) {
    const float even = even_out(input, job.h);
    out = normed8(out, even, static_cast<const __nv_bfloat16*>(job.norm) + column);
  }
  auto* layer_in = static_cast<__nv_bfloat16*>(job.layer_in) + std::int64_t{token} * job.h + column;
  store_past_l1(reinterpret_cast<uint4*>(layer_in), out);
}

__global__ __launch_bounds__(kMixThreads, 3) void mhc_mix_kernel(const __grid_constant__ BkMhcPre job, int shares) {
  if (static_cast<int>(blockIdx.x) < job.t) {
    mix_token(job, job.t - 1 - blockIdx.x, shares);
    return;
  }
  const int token = (blockIdx.x - job.t) * (blockDim.x / 32) + threadIdx.x / 32;
  wait_for_previous();
  if (token < job.t) write_post_comb(job, mix_of(job, add_shares(job, token, 0, 1, shares)), token);
}

}  // namespace bk::kernels
