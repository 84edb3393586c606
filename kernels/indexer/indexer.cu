#include "common/device.cuh"
#include "common/fp8.cuh"
#include "indexer/indexer.h"

namespace bk::kernels {
namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;
constexpr int kHeads = BK_INDEX_HEADS;
constexpr int kDim = BK_INDEX_DIM;
constexpr int kMaxTokens = 65536;
constexpr int kKeys = 8;  // of a warp at a time
constexpr int kBlockKeys = kKeys * kWarps * 4;

/// A warp has one head of one token, a lane 4 neighbouring dimensions.
__global__ __launch_bounds__(kThreads) void query_kernel(const __grid_constant__ BkIndexerQuery job) {
  const int lane = threadIdx.x % 32;
  const std::int64_t head = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
  const std::int64_t token = head / kHeads;
  const uint2 pairs =
      __ldg(reinterpret_cast<const uint2*>(static_cast<const __nv_bfloat16*>(job.q) + head * kDim) + lane);
  float v[4] = {bf16_low(pairs.x), bf16_high(pairs.x), bf16_low(pairs.y), bf16_high(pairs.y)};
  if (lane >= 16) {
    const float* row = job.cos_sin + __ldg(job.positions + token) * BK_INDEX_ROPE;
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      const int pair = (lane - 16) * 2 + p;
      const float c = __ldg(row + pair);
      const float s = __ldg(row + BK_INDEX_ROPE / 2 + pair);
      const float a = v[2 * p];
      const float b = v[2 * p + 1];
      v[2 * p] = __bfloat162float(__float2bfloat16_rn(fmaf(a, c, -__fmul_rn(b, s))));
      v[2 * p + 1] = __bfloat162float(__float2bfloat16_rn(fmaf(b, c, __fmul_rn(a, s))));
    }
  }
  const float scale = power_scale(warp_max(fmaxf(fmaxf(fabsf(v[0]), fabsf(v[1])), fmaxf(fabsf(v[2]), fabsf(v[3])))));
  std::uint32_t bytes = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) bytes |= e4m3_of(v[i] / scale) << (8 * i);
  reinterpret_cast<std::uint32_t*>(job.q8)[head * (kDim / 4) + lane] = bytes;
  if (lane == 0) {
    const float weight = job.weight_bf16 != 0 ? __bfloat162float(static_cast<const __nv_bfloat16*>(job.weight)[head])
                                              : __ldg(static_cast<const float*>(job.weight) + head);
    job.weight_out[head] = weight * scale * (0.08838834764831845f * 0.125f);
  }
}

/// 64 heads by 8 keys: a lane's part of the sum over heads, for keys lane%4*2 and one further, whole after the
/// shuffles.
__device__ inline float2 score_keys(const uint4 (&q)[4][2][2], const uint4 (&k)[2], const float (&weight)[4][2]) {
  float2 sum = make_float2(0.0f, 0.0f);
#pragma unroll
  for (int tile = 0; tile < 4; ++tile) {
    float c[4] = {};
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      const uint4& top = q[tile][0][step];
      const uint4& low = q[tile][1][step];
      const uint4& key = k[step];
      const std::uint32_t a[4] = {top.x, top.y, top.z, top.w};
      const std::uint32_t b[4] = {low.x, low.y, low.z, low.w};
      const std::uint32_t n[4] = {key.x, key.y, key.z, key.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        std::uint32_t a0, a2, a1, a3, b0, b1;
        widen_fp16(a[i], a0, a2);
        widen_fp16(b[i], a1, a3);
        widen_fp16(n[i], b0, b1);
        mma_fp16(c, a0, a1, a2, a3, b0, b1);
      }
    }
    sum.x = fmaf(weight[tile][0], fmaxf(c[0], 0.0f), sum.x);
    sum.y = fmaf(weight[tile][0], fmaxf(c[1], 0.0f), sum.y);
    sum.x = fmaf(weight[tile][1], fmaxf(c[2], 0.0f), sum.x);
    sum.y = fmaf(weight[tile][1], fmaxf(c[3], 0.0f), sum.y);
  }
#pragma unroll
  for (int step = 4; step < 32; step *= 2) {
    sum.x += __shfl_xor_sync(0xffffffffu, sum.x, step);
    sum.y += __shfl_xor_sync(0xffffffffu, sum.y, step);
  }
  return sum;
}

/// A block has one row and 128 keys. The order of the inner dimension inside a tile does not matter to a dot product,
/// so lanes load 16 bytes at a time.
__global__ __launch_bounds__(kThreads) void score_kernel(const __grid_constant__ BkIndexerScores job) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.y;
  const int bound = min(__ldg(job.bound + row), job.s);
  const int first = blockIdx.x * kBlockKeys;
  float* out = job.scores + row * job.scores_stride;
  if (first >= bound) {
    for (int i = first + threadIdx.x; i < min(first + kBlockKeys, job.s); i += kThreads) out[i] = -INFINITY;
    return;
  }
  uint4 q[4][2][2];
  float weight[4][2];
  const auto* heads = static_cast<const unsigned char*>(job.q8) + std::int64_t{row} * kHeads * kDim + lane % 4 * 16;
#pragma unroll
  for (int tile = 0; tile < 4; ++tile) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int head = tile * 16 + half * 8 + lane / 4;
      weight[tile][half] = __ldg(job.weight + row * kHeads + head);
#pragma unroll
      for (int step = 0; step < 2; ++step) q[tile][half][step] = load_cached(heads + head * kDim + step * 64);
    }
  }
  for (int group = 0; group < 4; ++group) {
    const int at = first + (group * kWarps + threadIdx.x / 32) * kKeys;
    uint4 k[2];
    const int key = min(at + lane / 4, job.s - 1);
    const auto* from = static_cast<const unsigned char*>(job.k8) + std::int64_t{key} * kDim + lane % 4 * 16;
#pragma unroll
    for (int step = 0; step < 2; ++step) k[step] = load_cached(from + step * 64);
    const float2 sum = score_keys(q, k, weight);
    if (lane >= 4) continue;
    const int s = at + lane * 2;
    if (s < job.s) out[s] = s < bound ? sum.x * __ldg(job.k_scale + s) : -INFINITY;
    if (s + 1 < job.s) out[s + 1] = s + 1 < bound ? sum.y * __ldg(job.k_scale + s + 1) : -INFINITY;
  }
}

__global__ __launch_bounds__(kThreads) void globalise_kernel(const __grid_constant__ BkIndexerGlobalise job) {
  __shared__ int found[kWarps];
  const std::int64_t token = blockIdx.x;
  const int bound = __ldg(job.bound + token);
  const auto* table = job.block_table + std::int64_t{__ldg(job.token_rows + token)} * job.width;
  int valid = 0;
  for (int i = threadIdx.x; i < job.count; i += kThreads) {
    const std::int64_t chosen = __ldg(job.chosen + token * job.count + i);
    const int entry = chosen >= 0 && chosen < bound ? static_cast<int>(chosen) : -1;
    const int block = entry < 0 ? job.width : static_cast<int>(static_cast<unsigned>(entry) / job.block_size);
    const bool real = block < job.width;
    job.slots[token * job.count + i] =
        real ? __ldg(table + block) * job.block_size + entry - block * job.block_size : -1;
    valid += real ? 1 : 0;
  }
  valid = __reduce_add_sync(0xffffffffu, valid);
  if (threadIdx.x % 32 == 0) found[threadIdx.x / 32] = valid;
  __syncthreads();
  if (threadIdx.x == 0) job.counts[token] = found[0] + found[1] + found[2] + found[3];
}

}  // namespace
}  // namespace bk::kernels

using namespace bk::kernels;

int bk_indexer_query(const BkIndexerQuery* job, void* stream) {
  if (job == nullptr || job->q == nullptr || job->weight == nullptr || job->positions == nullptr ||
      job->cos_sin == nullptr || job->q8 == nullptr || job->weight_out == nullptr) {
    return BK_KERNEL_BAD_ARGUMENT;
  }
  if (job->t < 1 || job->t > kMaxTokens || job->max_position < 1) return BK_KERNEL_BAD_SHAPE;
  if (!is_aligned16(job->q) || !is_aligned16(job->cos_sin) || !is_aligned16(job->q8)) return BK_KERNEL_BAD_ALIGNMENT;
  query_kernel<<<job->t * kHeads / kWarps, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(*job);
  return launch_status(cudaGetLastError());
}

int bk_indexer_scores(const BkIndexerScores* job, void* stream) {
  if (job == nullptr || job->q8 == nullptr || job->weight == nullptr || job->k8 == nullptr || job->k_scale == nullptr ||
      job->bound == nullptr || job->scores == nullptr) {
    return BK_KERNEL_BAD_ARGUMENT;
  }
  if (job->t < 1 || job->t > 65535 || job->s < 1 || job->scores_stride < job->s) return BK_KERNEL_BAD_SHAPE;
  if (!is_aligned16(job->q8) || !is_aligned16(job->k8)) return BK_KERNEL_BAD_ALIGNMENT;
  const dim3 grid(static_cast<unsigned>((job->s + kBlockKeys - 1) / kBlockKeys), static_cast<unsigned>(job->t));
  score_kernel<<<grid, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(*job);
  return launch_status(cudaGetLastError());
}

int bk_indexer_globalise(const BkIndexerGlobalise* job, void* stream) {
  if (job == nullptr || job->chosen == nullptr || job->bound == nullptr || job->token_rows == nullptr ||
      job->block_table == nullptr || job->slots == nullptr || job->counts == nullptr) {
    return BK_KERNEL_BAD_ARGUMENT;
  }
  if (job->t < 1 || job->count < 1 || job->block_size < 1 || job->width < 1) return BK_KERNEL_BAD_SHAPE;
  globalise_kernel<<<job->t, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(*job);
  return launch_status(cudaGetLastError());
}
