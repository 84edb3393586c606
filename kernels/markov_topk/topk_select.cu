// A cluster of 8 blocks a row; each block turns its stretch of the row into sortable keys, once, and keeps them in
// shared memory. Three histograms of 11, 11 and 10 bits find the key of the last one chosen: every block adds its own
// counts to a table in each block of the cluster, so all of them read the same cut without asking. Then every warp
// counts in its own stretch and writes from its offset, so the order is that of the indices and no sum depends on
// timing.
#include "common/cluster.cuh"
#include "markov_topk/markov_topk.h"

namespace bk::kernels {
namespace {

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;
constexpr int kRanks = 8;
constexpr int kBins = 2048;
constexpr int kPasses = 3;
constexpr int kMaxBatch = 1024;
constexpr int kResidentKeys = 17056;  // so that all fits the 99 KB of sm_120

__device__ inline std::uint32_t key_of(float value) {
  if (value != value) return 0;
  const std::uint32_t bits = __float_as_uint(value + 0.0f);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}
__device__ inline std::uint32_t key_of(__nv_bfloat16 value) { return key_of(__bfloat162float(value)); }

/// What key_of() made a key of; zeros and NaN are read again, as several share a key.
template <class T>
__device__ inline T value_of(std::uint32_t key, const T* at) {
  if (key == 0 || key == 0x80000000u) return *at;
  const std::uint32_t bits = (key & 0x80000000u) != 0 ? key ^ 0x80000000u : ~key;
  if constexpr (sizeof(T) == 4) {
    return __uint_as_float(bits);
  } else {
    return __ushort_as_bfloat16(static_cast<unsigned short>(bits >> 16));
  }
}

struct Found {
  int bin;   // -1: fewer than wanted in all bins, for every thread alike
  int left;  // of those wanted, what the bins above leave
};

struct Scratch {
  int bins[kBins];
  int merged[kPasses][kBins];
  int warp_sums[kWarps];
  int above[kWarps];
  int equal[kWarps];
  int rank_above[kRanks];
  int rank_equal[kRanks];
  Found found;
  std::uint32_t cut_key;  // of the last one chosen
  int cut_left;           // how many keys equal to it are chosen
};

/// A block's stretch of the row: keys from shared memory where they fit, else made anew from the row.
template <class T>
struct Stretch {
  const T* row;
  const std::uint32_t* keys;
  int count;
  bool resident;
  __device__ std::uint32_t operator[](int i) const { return resident ? keys[i] : key_of(row[i]); }
};

template <class T>
__device__ inline void load_keys(const T* row, int count, std::uint32_t* keys) {
  constexpr int kPer = 16 / sizeof(T);
  const bool wide = reinterpret_cast<std::uintptr_t>(row) % 16 == 0;
  const int whole = wide ? count / kPer : 0;
#pragma unroll 8
  for (int i = threadIdx.x; i < whole; i += kThreads) {
    const uint4 v = load_streaming(row + i * kPer);
    const std::uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      if constexpr (sizeof(T) == 4) {
        keys[i * 4 + w] = key_of(__uint_as_float(words[w]));
      } else {
        keys[i * 8 + w * 2] = key_of(bf16_low(words[w]));
        keys[i * 8 + w * 2 + 1] = key_of(bf16_high(words[w]));
      }
    }
  }
  for (int i = whole * kPer + threadIdx.x; i < count; i += kThreads) keys[i] = key_of(row[i]);
}

__device__ inline int sum_up_to(int value) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, value, step);
    if (lane >= step) value += other;
  }
  return value;
}

/// Adds this block's counts to the table of every block of the cluster, and meets the others.
__device__ inline void merge(int pass, Scratch& scratch) {
  for (int i = threadIdx.x; i < kBins; i += kThreads) {
    const int count = scratch.bins[i];
    if (count == 0) continue;
#pragma unroll
    for (int rank = 0; rank < kRanks; ++rank) add_remote(&scratch.merged[pass][i], rank, count);
  }
  __syncwarp();
  cluster_arrive();
  cluster_wait();
}

/// The bin in which the `wanted`-th largest lies, from the whole row's counts; thread 0 has the highest bins.
__device__ inline Found find_bin(const int* bins, int wanted, Scratch& scratch) {
  constexpr int kPer = kBins / kThreads;
  const int top = kBins - 1 - threadIdx.x * kPer;
  int here[kPer];
  int own = 0;
#pragma unroll
  for (int i = 0; i < kPer; ++i) own += here[i] = bins[top - i];
  const int with_own = sum_up_to(own);
  if (threadIdx.x % 32 == 31) scratch.warp_sums[threadIdx.x / 32] = with_own;
  if (threadIdx.x == 0) scratch.found = {-1, 0};
  __syncthreads();
  int before = with_own - own;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) before += w < static_cast<int>(threadIdx.x / 32) ? scratch.warp_sums[w] : 0;
  if (before < wanted && before + own >= wanted) {
    int bin = -1;
    int left = 0;
#pragma unroll
    for (int i = 0; i < kPer; ++i) {
      if (bin < 0 && before + here[i] >= wanted) {
        bin = top - i;
        left = wanted - before;
      }
      before += here[i];
    }
    scratch.found = {bin, left};
  }
  __syncthreads();
  return scratch.found;
}

template <class T>
__device__ inline void find_cut(const Stretch<T>& stretch, int count, Scratch& scratch) {
  std::uint32_t mask = 0;
  std::uint32_t key_so_far = 0;
  int left = count;
#pragma unroll 1
  for (int pass = 0; pass < kPasses; ++pass) {
    const int shift = pass == 0 ? 21 : pass == 1 ? 10 : 0;
    const std::uint32_t width = pass == 2 ? 1023u : 2047u;
    for (int i = threadIdx.x; i < kBins; i += kThreads) scratch.bins[i] = 0;
    __syncthreads();
#pragma unroll 8
    for (int i = threadIdx.x; i < stretch.count; i += kThreads) {
      const std::uint32_t key = stretch[i];
      if ((key & mask) == key_so_far) atomicAdd(scratch.bins + (key >> shift & width), 1);
    }
    __syncthreads();
    merge(pass, scratch);
    const Found found = find_bin(scratch.merged[pass], left, scratch);
    key_so_far |= static_cast<std::uint32_t>(found.bin) << shift;
    left = found.left;
    mask |= width << shift;
  }
  if (threadIdx.x == 0) {
    scratch.cut_key = key_so_far;
    scratch.cut_left = left;
  }
  __syncthreads();
}

/// How many of this warp's keys lie above the cut, and on it; then what all earlier warps of the row found.
struct Place {
  int out;     // where this warp writes
  int passed;  // keys on the cut before it
};

template <class T>
__device__ inline Place find_place(const Stretch<T>& stretch, int begin, int end, int rank, Scratch& scratch) {
  const int warp = threadIdx.x / 32;
  int more = 0;
  int same = 0;
  for (int i = begin + threadIdx.x % 32; i < end; i += 32) {
    const std::uint32_t key = stretch[i];
    more += key > scratch.cut_key ? 1 : 0;
    same += key == scratch.cut_key ? 1 : 0;
  }
  more = __reduce_add_sync(0xffffffffu, more);
  same = __reduce_add_sync(0xffffffffu, same);
  if (threadIdx.x % 32 == 0) {
    scratch.above[warp] = more;
    scratch.equal[warp] = same;
  }
  __syncthreads();
  int before[2] = {};
  int all[2] = {};
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    before[0] += w < warp ? scratch.above[w] : 0;
    before[1] += w < warp ? scratch.equal[w] : 0;
    all[0] += scratch.above[w];
    all[1] += scratch.equal[w];
  }
  if (threadIdx.x < kRanks) {
    put_remote(&scratch.rank_above[rank], threadIdx.x, all[0]);
    put_remote(&scratch.rank_equal[rank], threadIdx.x, all[1]);
  }
  __syncwarp();
  cluster_arrive();
  cluster_wait();
  for (int other = 0; other < rank; ++other) {
    before[0] += scratch.rank_above[other];
    before[1] += scratch.rank_equal[other];
  }
  return {before[0] + min(before[1], scratch.cut_left), before[1]};
}

template <class T>
__global__ __cluster_dims__(kRanks, 1, 1)
    __launch_bounds__(kThreads) void select_kernel(const __grid_constant__ BkTopkSelect job, int slice) {
  extern __shared__ std::uint32_t keys[];
  __shared__ Scratch scratch;
  const int rank = cluster_rank();
  const int request = blockIdx.x / kRanks;
  const int origin = min(rank * slice, job.v);
  const int count = min(slice, job.v - origin);
  const auto* row = static_cast<const T*>(job.logits) + request * job.logits_stride + origin;
  for (int i = threadIdx.x; i < kPasses * kBins; i += kThreads) scratch.merged[i / kBins][i % kBins] = 0;
  __syncwarp();
  cluster_arrive();
  const bool resident = slice <= kResidentKeys;
  if (resident) load_keys(row, count, keys);
  const Stretch<T> stretch{row, keys, count, resident};
  cluster_wait();
  find_cut(stretch, job.count, scratch);
  const int lane = threadIdx.x % 32;
  const int per_warp = (count + kThreads - 1) / kThreads * 32;
  const int begin = min(static_cast<int>(threadIdx.x) / 32 * per_warp, count);
  const int end = min(begin + per_warp, count);
  Place place = find_place(stretch, begin, end, rank, scratch);
  auto* values = static_cast<T*>(job.values) + static_cast<std::int64_t>(request) * job.count;
  auto* idx = job.idx + static_cast<std::int64_t>(request) * job.count;
  const unsigned lower = (1u << lane) - 1;
  for (int start = begin; start < end; start += 32) {
    const int i = start + lane;
    const std::uint32_t key = i < end ? stretch[i] : 0;
    const bool is_same = i < end && key == scratch.cut_key;
    const unsigned sames = __ballot_sync(0xffffffffu, is_same);
    const bool taken =
        i < end && (key > scratch.cut_key || (is_same && place.passed + __popc(sames & lower) < scratch.cut_left));
    const unsigned takens = __ballot_sync(0xffffffffu, taken);
    if (taken) {
      values[place.out + __popc(takens & lower)] = value_of(key, row + i);
      idx[place.out + __popc(takens & lower)] = origin + i;
    }
    place.out += __popc(takens);
    place.passed += __popc(sames);
  }
}

template <class T>
int launch(const BkTopkSelect& job, cudaStream_t stream) {
  const int slice = ((job.v + kRanks - 1) / kRanks + 31) / 32 * 32;
  const int shared = slice <= kResidentKeys ? slice * 4 : 0;
  if (cudaFuncSetAttribute(select_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, kResidentKeys * 4) !=
      cudaSuccess) {
    return BK_KERNEL_LAUNCH_FAILED;
  }
  select_kernel<T><<<job.batch * kRanks, kThreads, shared, stream>>>(job, slice);
  return launch_status(cudaGetLastError());
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
  return job->fp32 != 0 ? launch<float>(*job, on) : launch<__nv_bfloat16>(*job, on);
}
