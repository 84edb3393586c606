#include <cuda_fp8.h>

#include "common/device.cuh"
#include "fp8_head/fp8_head.h"

namespace bk::kernels {
namespace {

constexpr int kThreads = 256;
constexpr float kLargest = 448.0f;
constexpr float kSmallestMaximum = 1e-6f;

__device__ inline float finite_size(float value) { return isfinite(value) ? fabsf(value) : 0.0f; }

__device__ inline std::uint32_t quantise_one(float value, float scale) {
  if (isnan(value)) return 0;
  return __nv_cvt_float_to_fp8(__fdiv_rn(value, scale), __NV_SATFINITE, __NV_E4M3);
}

__device__ inline float block_max(float value) {
  __shared__ float all[kThreads / 32];
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
  if (threadIdx.x % 32 == 0) all[threadIdx.x / 32] = value;
  __syncthreads();
  value = all[0];
#pragma unroll
  for (int i = 1; i < kThreads / 32; ++i) value = fmaxf(value, all[i]);
  return value;
}

__global__ __launch_bounds__(kThreads) void quantise_kernel(const __grid_constant__ BkFp8Quantise job) {
  const auto* row = static_cast<const __nv_bfloat16*>(job.w) + static_cast<std::int64_t>(blockIdx.x) * job.k;
  float largest = 0;
  for (int k = threadIdx.x * 8; k < job.k; k += kThreads * 8) {
    const uint4 v = load_cached(row + k);
    const std::uint32_t pairs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      largest = fmaxf(largest, fmaxf(finite_size(bf16_low(pairs[i])), finite_size(bf16_high(pairs[i]))));
    }
  }
  const float scale = __fdiv_rn(fmaxf(block_max(largest), kSmallestMaximum), kLargest);
  if (threadIdx.x == 0) job.scale[blockIdx.x] = scale;
  auto* out = static_cast<unsigned char*>(job.w8) + static_cast<std::int64_t>(blockIdx.x) * job.k;
  for (int k = threadIdx.x * 8; k < job.k; k += kThreads * 8) {
    const uint4 v = load_cached(row + k);
    const std::uint32_t pairs[4] = {v.x, v.y, v.z, v.w};
    std::uint32_t bytes[2] = {0, 0};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t two = quantise_one(bf16_low(pairs[i]), scale) | quantise_one(bf16_high(pairs[i]), scale) << 8;
      bytes[i / 2] |= two << (i % 2 * 16);
    }
    *reinterpret_cast<uint2*>(out + k) = make_uint2(bytes[0], bytes[1]);
  }
}

}  // namespace
}  // namespace bk::kernels

using namespace bk::kernels;

int bk_fp8_quantise(const BkFp8Quantise* job, void* stream) {
  if (job == nullptr || job->w == nullptr || job->w8 == nullptr || job->scale == nullptr) return BK_KERNEL_BAD_ARGUMENT;
  if (job->v < 1 || job->k < 16 || job->k % 16 != 0) return BK_KERNEL_BAD_SHAPE;
  if (!is_aligned16(job->w) || !is_aligned16(job->w8)) return BK_KERNEL_BAD_ALIGNMENT;
  quantise_kernel<<<job->v, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(*job);
  return launch_status(cudaGetLastError());
}
