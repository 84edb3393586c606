// One block a row: three histograms of 11, 11 and 10 bits find the key of the last one chosen; then every warp counts
// in its own stretch of the row and writes from its offset, so the order is that of the indices and no sum depends on
// timing.
#include "common/device.cuh"
#include "markov_topk/markov_topk.h"

namespace bk::kernels {
namespace {

constexpr int kThreads = 1024;
constexpr int kWarps = kThreads / 32;
constexpr int kBins = 2048;
constexpr int kMaxBatch = 1024;

__device__ inline std::uint32_t key_of(float value) {
  if (value != value) return 0;
  const std::uint32_t bits = __float_as_uint(value + 0.0f);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}
__device__ inline std::uint32_t key_of(__nv_bfloat16 value) { return key_of(__bfloat162float(value)); }

struct Cut {
  std::uint32_t key;  // its fixed bits so far
  int left;           // how many of the keys that share them are still wanted
};

/// Picks the bin in which the cut lies: thread 0 of warp 0 learns it, everyone reads it from `cut`.
__device__ inline void narrow(const int* bins, int shift, Cut* cut) {
  if (threadIdx.x >= 32) return;
  constexpr int kPer = kBins / 32;
  const int lane = threadIdx.x;
  const int top = kBins - 1 - lane * kPer;  // lane 0 has the highest bins
  int own = 0;
  for (int i = 0; i < kPer; ++i) own += bins[top - i];
  int before = own;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, before, step);
    if (lane >= step) before += other;
  }
  before -= own;
  const int wanted = cut->left;
  __syncwarp();
  if (before >= wanted || before + own < wanted) return;
  for (int i = 0; i < kPer; ++i) {
    const int here = bins[top - i];
    if (before + here >= wanted) {
      cut->key |= static_cast<std::uint32_t>(top - i) << shift;
      cut->left = wanted - before;
      return;
    }
    before += here;
  }
}

template <class T>
__device__ inline void find_cut(const T* row, int v, int* bins, Cut* cut) {
  std::uint32_t mask = 0;
  for (int pass = 0; pass < 3; ++pass) {
    const int shift = pass == 0 ? 21 : pass == 1 ? 10 : 0;
    const std::uint32_t width = shift == 0 ? 1023u : 2047u;
    for (int i = threadIdx.x; i < kBins; i += kThreads) bins[i] = 0;
    __syncthreads();
    const std::uint32_t fixed = cut->key;
#pragma unroll 4
    for (int i = threadIdx.x; i < v; i += kThreads) {
      const std::uint32_t key = key_of(row[i]);
      if ((key & mask) == fixed) atomicAdd(bins + (key >> shift & width), 1);
    }
    __syncthreads();
    narrow(bins, shift, cut);
    __syncthreads();
    mask |= width << shift;
  }
}

template <class T>
__global__ __launch_bounds__(kThreads) void select_kernel(const __grid_constant__ BkTopkSelect job) {
  __shared__ int bins[kBins];
  __shared__ Cut cut;
  __shared__ int above[kWarps];
  __shared__ int equal[kWarps];
  const auto* row = static_cast<const T*>(job.logits) + blockIdx.x * job.logits_stride;
  if (threadIdx.x == 0) cut = {0, job.count};
  __syncthreads();
  find_cut<T>(row, job.v, bins, &cut);
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int stretch = (job.v + kThreads - 1) / kThreads * 32;
  const int begin = min(warp * stretch, job.v);
  const int end = min(begin + stretch, job.v);
  int more = 0;
  int same = 0;
  for (int i = begin + lane; i < end; i += 32) {
    const std::uint32_t key = key_of(row[i]);
    more += key > cut.key ? 1 : 0;
    same += key == cut.key ? 1 : 0;
  }
  more = __reduce_add_sync(0xffffffffu, more);
  same = __reduce_add_sync(0xffffffffu, same);
  if (lane == 0) {
    above[warp] = more;
    equal[warp] = same;
  }
  __syncthreads();
  int out = 0;
  int passed = 0;  // equal keys before this stretch
  for (int other = 0; other < warp; ++other) {
    out += above[other];
    passed += equal[other];
  }
  out += min(passed, cut.left);
  auto* values = static_cast<T*>(job.values) + static_cast<std::int64_t>(blockIdx.x) * job.count;
  auto* idx = job.idx + static_cast<std::int64_t>(blockIdx.x) * job.count;
  const unsigned lower = (1u << lane) - 1;
  for (int start = begin; start < end; start += 32) {
    const int i = start + lane;
    const std::uint32_t key = i < end ? key_of(row[i]) : 0;
    const bool is_same = i < end && key == cut.key;
    const unsigned sames = __ballot_sync(0xffffffffu, is_same);
    const bool taken = i < end && (key > cut.key || (is_same && passed + __popc(sames & lower) < cut.left));
    const unsigned takens = __ballot_sync(0xffffffffu, taken);
    if (taken) {
      values[out + __popc(takens & lower)] = row[i];
      idx[out + __popc(takens & lower)] = i;
    }
    out += __popc(takens);
    passed += __popc(sames);
  }
}

}  // namespace
}  // namespace bk::kernels

using namespace bk::kernels;

int bk_topk_select(const BkTopkSelect* job, void* stream) {
  if (job == nullptr || job->logits == nullptr || job->values == nullptr || job->idx == nullptr)
    return BK_KERNEL_BAD_ARGUMENT;
  if (job->batch < 1 || job->batch > kMaxBatch || job->v < 1 || job->count < 1 || job->count > job->v ||
      job->logits_stride < job->v) {
    return BK_KERNEL_BAD_SHAPE;
  }
  const auto on = static_cast<cudaStream_t>(stream);
  if (job->fp32 != 0) {
    select_kernel<float><<<job->batch, kThreads, 0, on>>>(*job);
  } else {
    select_kernel<__nv_bfloat16><<<job->batch, kThreads, 0, on>>>(*job);
  }
  return launch_status(cudaGetLastError());
}
