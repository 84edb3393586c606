// A block reads its tokens' streams twice: for the four factors, then for the sum; the second time they lie in a cache.
// A block of four tokens reads fn once for them.
#include "mhc/mhc.h"
#include "mhc/mix.cuh"

namespace bk::kernels {
namespace {

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;
constexpr int kColumns = kThreads * 8;
constexpr int kSums = kStreams + 1;  // projections, then the sum of squares
constexpr int kOneToken = 256;       // up to this many tokens a block has one

template <int kTokens>
__global__ __launch_bounds__(kThreads) void mhc_head_kernel(const __grid_constant__ BkMhcHead job) {
  __shared__ float parts[kTokens][kSums][kWarps];
  __shared__ float pre[kTokens][kStreams];
  const int wide = job.h * kStreams;
  const std::int64_t first = std::int64_t{blockIdx.x} * kTokens;
  const int live = min(kTokens, job.t - static_cast<int>(first));
  const auto* x = static_cast<const __nv_bfloat16*>(job.x) + first * wide;
  float sum[kTokens][kSums] = {};
  for (int at = threadIdx.x * 8; at < wide; at += kColumns) {
    float w[kStreams][8];
#pragma unroll
    for (int j = 0; j < kStreams; ++j) {
      const float4* row = reinterpret_cast<const float4*>(job.fn + std::int64_t{j} * wide + at);
      const float4 a = __ldg(row);
      const float4 b = __ldg(row + 1);
      w[j][0] = a.x, w[j][1] = a.y, w[j][2] = a.z, w[j][3] = a.w;
      w[j][4] = b.x, w[j][5] = b.y, w[j][6] = b.z, w[j][7] = b.w;
    }
#pragma unroll
    for (int token = 0; token < kTokens; ++token) {
      if (token >= live) break;
      float f[8];
      widen8(load_cached(x + std::int64_t{token} * wide + at), f);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < kStreams; ++j) sum[token][j] = fmaf(f[i], w[j][i], sum[token][j]);
        sum[token][kStreams] = fmaf(f[i], f[i], sum[token][kStreams]);
      }
    }
  }
#pragma unroll
  for (int token = 0; token < kTokens; ++token) {
#pragma unroll
    for (int s = 0; s < kSums; ++s) {
      const float total = warp_sum(sum[token][s]);
      if (threadIdx.x % 32 == 0) parts[token][s][threadIdx.x / 32] = total;
    }
  }
  __syncthreads();
  if (threadIdx.x < kTokens * kStreams) {
    const int token = threadIdx.x / kStreams;
    const int j = threadIdx.x % kStreams;
    float projection = 0.0f;
    float squares = 0.0f;
    for (int warp = 0; warp < kWarps; ++warp) {
      projection += parts[token][j][warp];
      squares += parts[token][kStreams][warp];
    }
    const float shrink = rsqrtf(squares / static_cast<float>(wide) + kMhcEps);
    pre[token][j] = sigmoid(fmaf(projection * shrink, __ldg(job.scale), __ldg(job.base + j))) + kMhcEps;
  }
  __syncthreads();
  auto* out = static_cast<__nv_bfloat16*>(job.out) + first * job.h;
  for (int token = 0; token < live; ++token) {
    for (int at = threadIdx.x * 8; at < job.h; at += kColumns) {
      float f[8] = {};
#pragma unroll
      for (int j = 0; j < kStreams; ++j) {
        float from[8];
        widen8(load_cached(x + std::int64_t{token} * wide + j * job.h + at), from);
#pragma unroll
        for (int i = 0; i < 8; ++i) f[i] = fmaf(pre[token][j], from[i], f[i]);
      }
      store_past_l1(reinterpret_cast<uint4*>(out + std::int64_t{token} * job.h + at), narrow8(f));
    }
  }
}

template <int kTokens>
int launch_head(const BkMhcHead& job, cudaStream_t stream) {
  mhc_head_kernel<kTokens><<<(job.t + kTokens - 1) / kTokens, kThreads, 0, stream>>>(job);
  return launch_status(cudaGetLastError());
}

}  // namespace
}  // namespace bk::kernels

using namespace bk::kernels;

int bk_mhc_head(const BkMhcHead* job, void* stream) {
  if (job == nullptr || job->x == nullptr || job->fn == nullptr || job->scale == nullptr || job->base == nullptr ||
      job->out == nullptr) {
    return BK_KERNEL_BAD_ARGUMENT;
  }
  if (job->t < 1 || job->t > 65536 || job->h < 8 || job->h > 8192 || job->h % 8 != 0) return BK_KERNEL_BAD_SHAPE;
  if (!is_aligned16(job->x) || !is_aligned16(job->fn) || !is_aligned16(job->out)) return BK_KERNEL_BAD_ALIGNMENT;
  const auto on = static_cast<cudaStream_t>(stream);
  return job->t <= kOneToken ? launch_head<1>(*job, on) : launch_head<4>(*job, on);
}
