// Bound by the bytes of the weights. Up to 8 tokens take the kernel of head_small.cuh. Above, every warp streams rows
// of its own, 16 at a time, straight into registers, with the loads of one stage in flight while the stage before it is
// multiplied. x lies in shared memory in the order in which the tensor cores take it. E4M3 becomes bf16 by moving bits:
// the exponent field keeps its value, so the weight is off by 2^-120; x is held times 2^64 and the epilogue gives the
// rest back.
#include "common/device.cuh"
#include "fp8_head/fp8_head.h"
#include "fp8_head/head_small.cuh"

namespace bk::kernels {
namespace {

constexpr int kMaxTokens = 32;
constexpr int kMaxInner = 4096;
constexpr int kWarps = 16;
constexpr int kThreads = 32 * kWarps;
constexpr int kRows = 16;
constexpr int kStep = 64;  // of k, a warp's unit: 16 bytes a lane and row
constexpr int kStage = 4;  // steps in flight

constexpr float kActivationScale = 0x1p64f;
constexpr float kResultScale = 0x1p56f;

/// 4 E4M3 bytes to two pairs of bf16, both times 2^-120: bytes 0 and 2, then bytes 1 and 3.
__device__ inline void widen(std::uint32_t bytes, std::uint32_t& even, std::uint32_t& odd) {
  const std::uint32_t up = bytes << 8;
  even = (up & 0x80008000u) | ((up >> 4) & 0x07f007f0u);
  odd = (bytes & 0x80008000u) | ((bytes >> 4) & 0x07f007f0u);
}

struct Stage {
  uint4 top[kStage];
  uint4 low[kStage];
};

__device__ inline void fetch(Stage& stage, const unsigned char* w, std::int64_t below) {
#pragma unroll
  for (int i = 0; i < kStage; ++i) {
    stage.top[i] = load_streaming(w + i * kStep);
    stage.low[i] = load_streaming(w + below + i * kStep);
  }
}

template <int kTiles>
__device__ inline void multiply(const Stage& stage, const uint4* x, int step, float (&sum)[kTiles][4]) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < kStage; ++i) {
    const std::uint32_t top[4] = {stage.top[i].x, stage.top[i].y, stage.top[i].z, stage.top[i].w};
    const std::uint32_t low[4] = {stage.low[i].x, stage.low[i].y, stage.low[i].z, stage.low[i].w};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      std::uint32_t a[2][4];
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        widen(top[half * 2 + j], a[j][0], a[j][2]);
        widen(low[half * 2 + j], a[j][1], a[j][3]);
      }
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        const uint4 b = x[(((step + i) * kTiles + tile) * 2 + half) * 32 + lane];
        mma_bf16(sum[tile], a[0][0], a[0][1], a[0][2], a[0][3], b.x, b.y);
        mma_bf16(sum[tile], a[1][0], a[1][1], a[1][2], a[1][3], b.z, b.w);
      }
    }
  }
}

/// Brings k_count columns of x into shared memory: for each step, tile and half, the 16 bytes of each lane (token
/// lane/4, 8 columns), every 4 columns in the order 0, 2, 1, 3 that widen() leaves.
template <int kTiles>
__device__ inline void stage_x(const BkFp8Head& head, int k_begin, int k_count, uint4* x) {
  const int pieces = k_count / 8 * kTiles * 8;
  for (int i = threadIdx.x; i < pieces; i += kThreads) {
    const int lane = i % 32;
    const int half = i / 32 % 2;
    const int tile = i / 64 % kTiles;
    const int step = i / 64 / kTiles;
    const int token = tile * 8 + lane / 4;
    uint4 v = make_uint4(0, 0, 0, 0);
    if (token < head.m) {
      const auto* source = static_cast<const __nv_bfloat16*>(head.x) + token * head.x_stride + k_begin + step * kStep +
                           lane % 4 * 16 + half * 8;
      v = load_cached(source);
    }
    const std::uint32_t in[4] = {v.x, v.y, v.z, v.w};
    std::uint32_t out[4];
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float f[4] = {bf16_low(in[j * 2]), bf16_high(in[j * 2]), bf16_low(in[j * 2 + 1]), bf16_high(in[j * 2 + 1])};
#pragma unroll
      for (int p = 0; p < 2; ++p) {
        const std::uint32_t low = __float_as_uint(f[p] * kActivationScale) >> 16;
        const std::uint32_t high = __float_as_uint(f[p + 2] * kActivationScale) & 0xffff0000u;
        out[j * 2 + p] = low | high;
      }
    }
    x[i] = make_uint4(out[0], out[1], out[2], out[3]);
  }
}

template <int kTiles>
__device__ inline void store(const BkFp8Head& head, int row, const float (&sum)[kTiles][4]) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int part = 0; part < 2; ++part) {
    const int v = row + lane / 4 + part * 8;
    const float scale = __ldg(head.scale + v);
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int token = tile * 8 + lane % 4 * 2 + i;
        if (token >= head.m) continue;
        const float value = sum[tile][part * 2 + i] * kResultScale * scale;
        const std::int64_t at = token * head.logits_stride + v;
        if (head.logits_fp32 != 0) {
          static_cast<float*>(head.logits)[at] = value;
        } else {
          static_cast<__nv_bfloat16*>(head.logits)[at] = __float2bfloat16_rn(value);
        }
      }
    }
  }
}

/// One warp's 16 rows by `stages` stages of the inner dimension. The caller has put the first stage into `ready`; on
/// return it holds the first stage that starts at `next`.
template <int kTiles>
__device__ inline void run_rows(const unsigned char* w, const unsigned char* next, std::int64_t below, const uint4* x,
                                int stages, Stage& ready, float (&sum)[kTiles][4]) {
  constexpr int kBytes = kStage * kStep;
  for (int stage = 0; stage < stages; ++stage) {
    Stage coming;
    fetch(coming, stage + 1 < stages ? w + (stage + 1) * kBytes : next, below);
    multiply<kTiles>(ready, x, stage * kStage, sum);
    ready = coming;
  }
}

template <int kTiles>
__global__ __launch_bounds__(kThreads, 1) void head_kernel(const __grid_constant__ BkFp8Head head) {
  extern __shared__ uint4 x_shared[];
  constexpr int kBytes = kStage * kStep;
  const int slab = min(head.k, kMaxInner / kTiles);
  const int lane = threadIdx.x % 32;
  const int tiles = head.v / kRows;
  const int apart = gridDim.x * kWarps;
  const std::int64_t below = std::int64_t{8} * head.k;
  const auto* origin =
      static_cast<const unsigned char*>(head.w8) + static_cast<std::int64_t>(lane / 4) * head.k + lane % 4 * 16;
  const auto rows_at = [&](int tile) {
    return origin + static_cast<std::int64_t>(min(tile, tiles - 1)) * kRows * head.k;
  };
  const int first = blockIdx.x + threadIdx.x / 32 * gridDim.x;
  Stage ready;
  fetch(ready, rows_at(first), below);
  const bool whole = slab == head.k;
  if (whole) {
    stage_x<kTiles>(head, 0, head.k, x_shared);
    __syncthreads();
  }
  for (int round = blockIdx.x; round < tiles; round += apart) {
    const int tile = round + threadIdx.x / 32 * gridDim.x;
    if (whole && tile >= tiles) break;
    float sum[kTiles][4] = {};
    for (int k = 0; k < head.k; k += slab) {
      const int count = min(slab, head.k - k);
      if (!whole) {
        __syncthreads();
        stage_x<kTiles>(head, k, count, x_shared);
        __syncthreads();
      }
      const unsigned char* w = rows_at(tile) + k;
      const unsigned char* next = k + count < head.k ? w + count : rows_at(tile + apart);
      run_rows<kTiles>(w, next, below, x_shared, count / kBytes, ready, sum);
    }
    if (tile < tiles) store<kTiles>(head, tile * kRows, sum);
  }
}

template <int kDepth>
int launch_small(const BkFp8Head& head, int blocks, cudaStream_t stream) {
  const int threads = head.k / kSmallSlice * 32;
  const int shared = kDepth * kPieceWarpBytes * (threads / 32);
  if (cudaFuncSetAttribute(head_small_kernel<kDepth>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared) !=
      cudaSuccess) {
    return BK_KERNEL_LAUNCH_FAILED;
  }
  head_small_kernel<kDepth><<<blocks, threads, shared, stream>>>(head);
  return launch_status(cudaGetLastError());
}

template <int kTiles>
int launch(const BkFp8Head& head, int blocks, cudaStream_t stream) {
  const int shared = min(head.k, kMaxInner / kTiles) * kTiles * 16;
  if (cudaFuncSetAttribute(head_kernel<kTiles>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared) != cudaSuccess) {
    return BK_KERNEL_LAUNCH_FAILED;
  }
  head_kernel<kTiles><<<blocks, kThreads, shared, stream>>>(head);
  return launch_status(cudaGetLastError());
}

}  // namespace
}  // namespace bk::kernels

using namespace bk::kernels;

int bk_fp8_head(const BkFp8Head* head, void* stream) {
  if (head == nullptr || head->x == nullptr || head->w8 == nullptr || head->scale == nullptr ||
      head->logits == nullptr) {
    return BK_KERNEL_BAD_ARGUMENT;
  }
  if (head->m < 1 || head->m > kMaxTokens || head->v < kRows || head->v % kRows != 0 || head->k < 256 ||
      head->k % (kStage * kStep) != 0 || head->k > kMaxInner || head->x_stride < head->k ||
      head->logits_stride < head->v) {
    return BK_KERNEL_BAD_SHAPE;
  }
  if (!is_aligned16(head->x) || !is_aligned16(head->w8) || head->x_stride % 8 != 0) return BK_KERNEL_BAD_ALIGNMENT;
  const int processors = device_number(cudaDevAttrMultiProcessorCount);
  if (processors == 0) return BK_KERNEL_LAUNCH_FAILED;
  const int tiles = head->v / kRows;
  const int rounds = (tiles + processors - 1) / processors;
  const int blocks = (tiles + rounds - 1) / rounds;  // as many as keep all of them busy to the end
  const auto on = static_cast<cudaStream_t>(stream);
  if (head->m <= kSmallTokens) {
    const bool roomy = device_number(cudaDevAttrMaxSharedMemoryPerBlockOptin) >= 6 * kPieceBytes + 20 * 1024;
    return roomy ? launch_small<6>(*head, blocks, on) : launch_small<2>(*head, blocks, on);
  }
  return head->m <= 16 ? launch<2>(*head, blocks, on) : launch<4>(*head, blocks, on);
}
