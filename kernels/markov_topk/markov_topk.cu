// One launch both fills the row with -inf and writes the chosen values. Blocks share the row by ranges: each marks the
// chosen indices of its range in a bitmap and fills around them, so no address is written twice and no block waits for
// another. The dot products are dealt out evenly, whatever range their index lies in.
#include "common/device.cuh"
#include "markov_topk/markov_topk.h"

namespace bk::kernels {
namespace {

constexpr int kRank = 256;
constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;
constexpr int kMaxBatch = 64;
constexpr int kMaxCount = 2048;
constexpr int kMaxVocabulary = 1 << 20;
constexpr int kMaxRange = 32768;

__device__ inline float to_float(float value) { return value; }
__device__ inline float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ inline void put(float* to, float value) { store_past_l1(to, value); }
__device__ inline void put(__nv_bfloat16* to, float value) { store_past_l1(to, __float2bfloat16_rn(value)); }

template <class T>
struct Infinity;
template <>
struct Infinity<float> {
  static constexpr std::uint32_t kWord = 0xff800000u;
};
template <>
struct Infinity<__nv_bfloat16> {
  static constexpr std::uint32_t kWord = 0xff80ff80u;
};

__device__ inline float dot8(const uint4& a, const uint4& b) {
  const std::uint32_t left[4] = {a.x, a.y, a.z, a.w};
  const std::uint32_t right[4] = {b.x, b.y, b.z, b.w};
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    sum = fmaf(bf16_low(left[i]), bf16_low(right[i]), sum);
    sum = fmaf(bf16_high(left[i]), bf16_high(right[i]), sum);
  }
  return warp_sum(sum);
}

template <class T>
__device__ inline void fill(T* row, int begin, int end, const std::uint32_t* marked) {
  constexpr int kPer = 16 / sizeof(T);
  constexpr std::uint32_t kWord = Infinity<T>::kWord;
  for (int v = begin + threadIdx.x * kPer; v < end; v += kThreads * kPer) {
    const int at = v - begin;
    const std::uint32_t bits = marked[at / 32] >> (at % 32) & ((1u << kPer) - 1);
    if (bits == 0 && v + kPer <= end) {
      store_past_l1(reinterpret_cast<uint4*>(row + v), make_uint4(kWord, kWord, kWord, kWord));
      continue;
    }
#pragma unroll
    for (int i = 0; i < kPer; ++i) {
      if ((bits >> i & 1) == 0 && v + i < end) put(row + v + i, __uint_as_float(0xff800000u));
    }
  }
}

/// Grid: x cuts the row, y is the request. `range` is a multiple of 32.
template <class T, int kRows>
__global__ __launch_bounds__(kThreads) void markov_kernel(const __grid_constant__ BkMarkovTopk job, int range) {
  __shared__ std::uint32_t marked[kMaxRange / 32];
  const int lane = threadIdx.x % 32;
  const int request = blockIdx.y;
  const int begin = blockIdx.x * range;
  const int end = min(begin + range, job.v);
  const auto* idx = job.idx + request * job.count;
  const auto* base_row = static_cast<const T*>(job.base) + request * job.count;
  const std::int64_t prev = __ldg(job.prev + request);
  const int first = (blockIdx.x * kWarps + threadIdx.x / 32) * kRows;
  std::int64_t index[kRows];
  float base[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    index[i] = first + i < job.count ? __ldg(idx + first + i) : -1;
    base[i] = first + i < job.count ? to_float(base_row[first + i]) : 0.0f;
  }
  const std::int64_t early = static_cast<int>(threadIdx.x) < job.count ? __ldg(idx + threadIdx.x) : -1;
  for (int word = threadIdx.x; word < range / 32; word += kThreads) marked[word] = 0;
  uint4 w[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    w[i] = make_uint4(0, 0, 0, 0);
    if (index[i] < 0 || index[i] >= job.v) index[i] = -1;
    if (index[i] >= 0) w[i] = load_streaming(static_cast<const __nv_bfloat16*>(job.w2) + index[i] * kRank + lane * 8);
  }
  const uint4 e = load_cached(static_cast<const __nv_bfloat16*>(job.w1) + prev * kRank + lane * 8);
  const auto mark = [&](std::int64_t v) {
    if (v >= begin && v < end) atomicOr(marked + (v - begin) / 32, 1u << (v - begin) % 32);
  };
  __syncthreads();
  mark(early);
  for (int j = threadIdx.x + kThreads; j < job.count; j += kThreads) mark(__ldg(idx + j));
  __syncthreads();
  auto* row = static_cast<T*>(job.logits) + request * job.logits_stride;
  fill<T>(row, begin, end, marked);
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const float bias = dot8(e, w[i]);
    if (lane == i && index[i] >= 0) put(row + index[i], base[i] + bias);
  }
}

template <class T>
int launch(const BkMarkovTopk& job, cudaStream_t stream) {
  const int rows = job.count <= 512 && job.batch <= 8 ? 1 : 4;
  const int for_rows = (job.count + rows * kWarps - 1) / (rows * kWarps);
  const int for_fill = (job.v + kMaxRange - 1) / kMaxRange;
  const int wanted = for_rows > for_fill ? for_rows : for_fill;
  const int range = ((job.v + wanted - 1) / wanted + 31) / 32 * 32;
  const dim3 grid(wanted, job.batch);
  if (rows == 1) {
    markov_kernel<T, 1><<<grid, kThreads, 0, stream>>>(job, range);
  } else {
    markov_kernel<T, 4><<<grid, kThreads, 0, stream>>>(job, range);
  }
  return launch_status(cudaGetLastError());
}

}  // namespace
}  // namespace bk::kernels

using namespace bk::kernels;

int bk_markov_topk(const BkMarkovTopk* job, void* stream) {
  if (job == nullptr || job->base == nullptr || job->idx == nullptr || job->prev == nullptr || job->w1 == nullptr ||
      job->w2 == nullptr || job->logits == nullptr) {
    return BK_KERNEL_BAD_ARGUMENT;
  }
  if (job->batch < 1 || job->batch > kMaxBatch || job->count < 1 || job->count > kMaxCount || job->v < job->count ||
      job->v > kMaxVocabulary || job->logits_stride < job->v) {
    return BK_KERNEL_BAD_SHAPE;
  }
  if (!is_aligned16(job->w1) || !is_aligned16(job->w2) || !is_aligned16(job->logits) || job->logits_stride % 8 != 0) {
    return BK_KERNEL_BAD_ALIGNMENT;
  }
  const auto on = static_cast<cudaStream_t>(stream);
  return job->fp32 != 0 ? launch<float>(*job, on) : launch<__nv_bfloat16>(*job, on);
}
