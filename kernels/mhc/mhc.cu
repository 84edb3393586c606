#include "common/device.cuh"
#include "mhc/mhc.h"
#include "mhc/mhc_many.cuh"
#include "mhc/mhc_small.cuh"

namespace bk::kernels {
namespace {

constexpr int kMaxTokens = 65536;
constexpr int kMaxHidden = 4096;
constexpr int kHiddenStep = 512;
constexpr int kPostThreads = 128;

/// A thread has 8 columns of all streams of one token.
__global__ __launch_bounds__(kPostThreads) void mhc_post_kernel(const __grid_constant__ BkMhcPost job) {
  const int chunks = job.h / 8;
  const std::int64_t token = blockIdx.y;
  const int column = (blockIdx.x * kPostThreads + threadIdx.x) * 8;
  if (column >= chunks * 8) return;
  const auto* x = static_cast<const __nv_bfloat16*>(job.x) + token * kStreams * job.h + column;
  uint4 stream[kStreams];
#pragma unroll
  for (int j = 0; j < kStreams; ++j) stream[j] = load_streaming(x + j * job.h);
  const uint4 y = load_streaming(static_cast<const __nv_bfloat16*>(job.y) + token * job.h + column);
  const float4 post = __ldg(reinterpret_cast<const float4*>(job.post) + token);
  float4 comb[kStreams];
#pragma unroll
  for (int j = 0; j < kStreams; ++j) comb[j] = __ldg(reinterpret_cast<const float4*>(job.comb) + token * kStreams + j);
  float from_y[8];
  float from_x[kStreams][8];
  widen8(y, from_y);
#pragma unroll
  for (int j = 0; j < kStreams; ++j) widen8(stream[j], from_x[j]);
  auto* out = static_cast<__nv_bfloat16*>(job.out) + token * kStreams * job.h + column;
#pragma unroll
  for (int k = 0; k < kStreams; ++k) {
    const auto pick = [k](const float4& v) { return k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w; };
    float f[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      f[i] = pick(post) * from_y[i];
#pragma unroll
      for (int j = 0; j < kStreams; ++j) f[i] = fmaf(pick(comb[j]), from_x[j][i], f[i]);
    }
    store_past_l1(reinterpret_cast<uint4*>(out + k * job.h), narrow8(f));
  }
}

int check_shape(int t, int h) {
  const bool fits = t >= 1 && t <= kMaxTokens && h >= kHiddenStep && h <= kMaxHidden && h % kHiddenStep == 0;
  return fits ? BK_KERNEL_OK : BK_KERNEL_BAD_SHAPE;
}

template <int kDepth>
bool launch_project(const BkMhcPre& job, dim3 grid, cudaStream_t stream) {
  constexpr int kShared = sizeof(ManyScratch<kDepth>);
  if (cudaFuncSetAttribute(mhc_project_kernel<kDepth>, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared) !=
      cudaSuccess)
    return false;
  mhc_project_kernel<kDepth><<<grid, kManyThreads, kShared, stream>>>(job);
  return true;
}

int launch_many(const BkMhcPre& job, cudaStream_t stream) {
  const int tiles = (job.t + kManyTokens - 1) / kManyTokens;
  int shares = 1;
  while (shares < kManyShares && tiles * shares * 2 <= kManyBlocks) shares *= 2;
  const dim3 grid(shares, tiles);
  const bool roomy = device_number(cudaDevAttrMaxSharedMemoryPerBlockOptin) >= int{sizeof(ManyScratch<4>)};
  if (!(roomy ? launch_project<4>(job, grid, stream) : launch_project<3>(job, grid, stream)))
    return BK_KERNEL_LAUNCH_FAILED;
  const int threads = job.h / 8;
  const int rounds = (job.t + threads / 32 - 1) / (threads / 32);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(job.t + rounds);
  config.blockDim = dim3(threads);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  return launch_status(cudaLaunchKernelEx(&config, mhc_mix_kernel, job, shares));
}

int check_pre(const BkMhcPre* job) {
  if (job == nullptr || job->x == nullptr || job->fn == nullptr || job->scale == nullptr || job->base == nullptr ||
      job->post == nullptr || job->comb == nullptr || job->layer_in == nullptr || job->workspace == nullptr) {
    return BK_KERNEL_BAD_ARGUMENT;
  }
  if (const int status = check_shape(job->t, job->h); status != BK_KERNEL_OK) return status;
  const bool aligned = is_aligned16(job->x) && is_aligned16(job->fn) && is_aligned16(job->norm) &&
                       is_aligned16(job->layer_in) && is_aligned16(job->comb) && is_aligned16(job->workspace);
  return aligned ? BK_KERNEL_OK : BK_KERNEL_BAD_ALIGNMENT;
}

int check_post(const BkMhcPost* job) {
  if (job == nullptr || job->x == nullptr || job->y == nullptr || job->post == nullptr || job->comb == nullptr ||
      job->out == nullptr) {
    return BK_KERNEL_BAD_ARGUMENT;
  }
  if (const int status = check_shape(job->t, job->h); status != BK_KERNEL_OK) return status;
  const bool aligned = is_aligned16(job->x) && is_aligned16(job->y) && is_aligned16(job->post) &&
                       is_aligned16(job->comb) && is_aligned16(job->out);
  return aligned ? BK_KERNEL_OK : BK_KERNEL_BAD_ALIGNMENT;
}

template <bool kAfter>
int launch_small(const BkMhcPre& job, const BkMhcPost& before, cudaStream_t stream) {
  const int producers = job.h * kStreams / kSmallColumns;
  mhc_small_kernel<kAfter><<<producers + job.t, kSmallThreads, 0, stream>>>(job, before);
  return launch_status(cudaGetLastError());
}

}  // namespace
}  // namespace bk::kernels

using namespace bk::kernels;

size_t bk_mhc_workspace_bytes(int h) {
  return sizeof(float) * (static_cast<size_t>(small_words(h)) + size_t{kMaxTokens} * kSums);
}

int bk_mhc_pre(const BkMhcPre* job, void* stream) {
  if (const int status = check_pre(job); status != BK_KERNEL_OK) return status;
  const auto on = static_cast<cudaStream_t>(stream);
  if (job->t <= kSmallTokens) return launch_small<false>(*job, BkMhcPost{}, on);
  return launch_many(*job, on);
}

int bk_mhc_post(const BkMhcPost* job, void* stream) {
  if (const int status = check_post(job); status != BK_KERNEL_OK) return status;
  const dim3 grid(static_cast<unsigned>((job->h / 8 + kPostThreads - 1) / kPostThreads), static_cast<unsigned>(job->t));
  mhc_post_kernel<<<grid, kPostThreads, 0, static_cast<cudaStream_t>(stream)>>>(*job);
  return launch_status(cudaGetLastError());
}

int bk_mhc_post_pre(const BkMhcPost* before, const BkMhcPre* job, void* stream) {
  if (const int status = check_post(before); status != BK_KERNEL_OK) return status;
  if (const int status = check_pre(job); status != BK_KERNEL_OK) return status;
  if (before->t != job->t || before->h != job->h || job->t > kSmallTokens) return BK_KERNEL_BAD_SHAPE;
  if (before->out != job->x || before->out == before->x || before->post == job->post || before->comb == job->comb)
    return BK_KERNEL_BAD_ARGUMENT;
  return launch_small<true>(*job, *before, static_cast<cudaStream_t>(stream));
}
