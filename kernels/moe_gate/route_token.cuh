#pragma once

#include <cmath>
#include <cstdint>

#include "common/device.cuh"
#include "moe_gate/moe_gate.h"

namespace bk::kernels {

constexpr int kRouteThreads = 256;  // one expert each
constexpr int kRouteWarps = kRouteThreads / 32;
constexpr int kMaxChosen = 32;
constexpr int kGroups = kRouteThreads / 16;

/// Shared memory of one block that routes.
struct RouteScratch {
  std::uint32_t key[kRouteThreads];
  float part[kRouteWarps];
  alignas(16) std::uint32_t finalist[kRouteWarps * kMaxChosen];
  int finalist_id[kRouteWarps * kMaxChosen];
  float score[kRouteThreads];
  alignas(16) std::uint32_t group_top[kGroups];
  alignas(16) std::uint64_t candidate[kMaxChosen];  // as candidate() makes them; 0 where there is none
  alignas(16) float weight[kMaxChosen];             // by rank; 0 where there is none
  int candidates;
};

/// Before anything else is done with it, by every thread.
__device__ inline void clear_scratch(RouteScratch& scratch) {
  if (threadIdx.x < kMaxChosen) {
    scratch.candidate[threadIdx.x] = 0;
    scratch.weight[threadIdx.x] = 0;
  }
  if (threadIdx.x == 0) scratch.candidates = 0;
}

/// Undoes choice_key() of a number.
__device__ inline float key_value(std::uint32_t key) {
  return __uint_as_float((key & 0x80000000u) != 0 ? key & 0x7fffffffu : ~key);
}

/// Orders floats as unsigned integers; NaN comes below every number, and 0 is no expert at all.
__device__ inline std::uint32_t choice_key(float value) {
  if (value != value) return 1;
  const std::uint32_t bits = __float_as_uint(value + 0.0f);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

/// Softmax over the block's experts; a thread without one passes -inf.
__device__ inline float block_softmax(float logit, RouteScratch& scratch) {
  const int warp = threadIdx.x / 32;
  float top = logit;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
  if (threadIdx.x % 32 == 0) scratch.part[warp] = top;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kRouteWarps; ++i) top = fmaxf(top, scratch.part[i]);
  const float mine = __expf(logit - top);
  const float sum = warp_sum(mine);
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch.part[warp] = sum;
  __syncthreads();
  float total = 0;
#pragma unroll
  for (int i = 0; i < kRouteWarps; ++i) total += scratch.part[i];
  return __fdividef(mine, total);
}

/// log(1 + e^x); where e^x is small the logarithm of the rounded sum would lose its digits, so the series takes over.
__device__ inline float softplus(float x) {
  const float e = __expf(x);
  if (x > 20.0f) return x;
  return e < 0.015625f ? e * (1.0f - e * (0.5f - e * (0.33333334f - 0.25f * e))) : __logf(1.0f + e);
}

/// How the scores are made. Without a bias softmax keeps the order of the logits, and renormalising divides its sum
/// away again: then the logits stand for the scores, and only the chosen ones' exponentials are needed.
enum class Way { kSqrtSoftplus, kSoftmax, kSigmoid, kChosenSoftmax };

template <Way kWay>
__device__ inline float router_score(float logit, RouteScratch& scratch) {
  if constexpr (kWay == Way::kChosenSoftmax) return logit;
  if constexpr (kWay == Way::kSoftmax) return block_softmax(logit, scratch);
  if constexpr (kWay == Way::kSigmoid) return __frcp_rn(1.0f + __expf(-logit));
  float root;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(softplus(logit)));
  return root;
}

/// A key and its expert in one number, below 2^63: the larger key is the larger number, of equal keys the lower expert.
__device__ inline std::uint64_t candidate(std::uint32_t key, int expert) {
  return std::uint64_t{key} << 16 | static_cast<std::uint32_t>(0xffff - expert);
}
__device__ inline int expert_of(std::uint64_t candidate) { return 0xffff - static_cast<int>(candidate & 0xffff); }

// A sign that is added counts without a predicate, on which every addition would wait.
/// 1 where other > own, else 0; both below 2^63.
__device__ inline std::uint32_t exceeds(std::uint64_t other, std::uint64_t own) {
  return static_cast<std::uint32_t>((own - other) >> 32) >> 31;
}
/// Likewise, both below 2^31.
__device__ inline std::uint32_t exceeds(std::uint32_t other, std::uint32_t own) { return (own - other) >> 31; }

/// How many of keys[0, count) go before the key at place `own`: the larger ones, and equal ones at a lower place.
__device__ inline int keys_before(const std::uint32_t* keys, int begin, int end, std::uint32_t key, int own) {
  int before = 0;
#pragma unroll 2
  for (int i = begin; i < end; i += 4) {
    const uint4 four = *reinterpret_cast<const uint4*>(keys + i);
    before += (four.x > key || (four.x == key && i < own)) ? 1 : 0;
    before += (four.y > key || (four.y == key && i + 1 < own)) ? 1 : 0;
    before += (four.z > key || (four.z == key && i + 2 < own)) ? 1 : 0;
    before += (four.w > key || (four.w == key && i + 3 < own)) ? 1 : 0;
  }
  return before;
}

/// Every warp ranks its 32 experts, then the best top_k of each warp are ranked among each other. The places of the
/// finalists keep the order of the experts among equal keys, so ties go to the lower index throughout. The candidates
/// are those that are chosen.
__device__ inline void choose_any(std::uint32_t key, int top_k, RouteScratch& scratch) {
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int width = (top_k + 3) / 4 * 4;  // places of a warp's finalists
  scratch.key[threadIdx.x] = key;
  if (threadIdx.x < kMaxChosen) scratch.candidate[threadIdx.x] = 0;
  __syncwarp();
  const int rank = keys_before(scratch.key + warp * 32, 0, 32, key, lane);
  if (rank < width) {
    scratch.finalist[warp * width + rank] = key;
    scratch.finalist_id[warp * width + rank] = threadIdx.x;
  }
  __syncthreads();
  const int all = width * kRouteWarps;
  const int quarter = all / 4;  // a multiple of 4, as `all` is one of 32
  for (int base = 0; base < all; base += kRouteThreads / 4) {
    const int place = base + threadIdx.x / 4;
    const std::uint32_t mine = place < all ? scratch.finalist[place] : 0;
    const int begin = threadIdx.x % 4 * quarter;
    int before = keys_before(scratch.finalist, begin, begin + quarter, mine, place);
    before += __shfl_xor_sync(0xffffffffu, before, 1);
    before += __shfl_xor_sync(0xffffffffu, before, 2);
    if (place < all && before < top_k && threadIdx.x % 4 == 0) {
      scratch.candidate[before] = candidate(mine, scratch.finalist_id[place]);
    }
  }
  if (threadIdx.x == 0) scratch.candidates = top_k;
  __syncthreads();
}

/// The largest of each kWidth neighbouring lanes. One reduction serves the lanes of one mask at a time: for four masks
/// shuffles are quicker, for two they are not.
template <int kWidth>
__device__ inline std::uint32_t group_max(std::uint32_t value) {
  if constexpr (kWidth >= 16) {
    const int lane = threadIdx.x % 32;
    return __reduce_max_sync((1u << kWidth) - 1 << lane / kWidth * kWidth, value);
  } else {
#pragma unroll
    for (int step = kWidth / 2; step > 0; step /= 2) value = max(value, __shfl_xor_sync(0xffffffffu, value, step));
    return value;
  }
}

/// The short way: the top_k-th largest of the maxima of 16 groups of experts is a lower bound of the top_k-th key, and
/// few keys reach it: those become the candidates. The lowest bit of the keys is left out of it. Returns false, to
/// every thread, when there are too few groups or too many candidates, or when `unfit` is true for one thread.
template <int kWidth>
__device__ inline bool choose_few(std::uint32_t key, bool unfit, int top_k, int n, RouteScratch& scratch) {
  const int lane = threadIdx.x % 32;
  const std::uint32_t half = key >> 1;
  const std::uint32_t top = group_max<kWidth>(half);
  if (lane % kWidth == 0 && threadIdx.x < kGroups * kWidth) scratch.group_top[threadIdx.x / kWidth] = top;
  if (__syncthreads_or(unfit || top_k > n / kWidth) != 0) return false;
  const std::uint32_t mine = scratch.group_top[lane % kGroups];
  std::uint32_t before[4] = {};
#pragma unroll
  for (int i = 0; i < kGroups; i += 4) {
    const uint4 four = *reinterpret_cast<const uint4*>(scratch.group_top + i);
    before[0] += exceeds(four.x, mine);
    before[1] += exceeds(four.y, mine);
    before[2] += exceeds(four.z, mine);
    before[3] += exceeds(four.w, mine);
  }
  const int larger = static_cast<int>(before[0] + before[1] + (before[2] + before[3]));
  // The smallest maximum that fewer than top_k others exceed.
  const std::uint32_t bound = __reduce_min_sync(0xffffffffu, larger < top_k ? mine : 0xffffffffu);
  if (half >= bound && key != 0) {
    const int place = atomicAdd(&scratch.candidates, 1);
    if (place < kMaxChosen) scratch.candidate[place] = candidate(key, threadIdx.x);
  }
  __syncthreads();
  return scratch.candidates <= kMaxChosen;
}

/// A block of 256 threads routes one token, after clear_scratch(); thread e passes the logit of expert e (any number
/// where e >= n). kWidth is that of the groups in choose_few(): n is at most 16 of them.
template <Way kWay, int kWidth>
__device__ inline void route_token(float logit, float bias, const BkMoeRoute& route, int n, RouteScratch& scratch,
                                   float* weights_out, std::int32_t* ids_out) {
  const int lane = threadIdx.x;
  const bool real = lane < n;
  const float score = router_score<kWay>(real ? logit : -INFINITY, scratch);
  scratch.score[lane] = score;
  std::uint32_t key = real ? choice_key(score + bias) : 0;
  // Softmax of a NaN or an infinity is NaN throughout.
  const bool unfit = kWay == Way::kChosenSoftmax && real && !(logit < INFINITY);
  bool undefined = false;
  if (!choose_few<kWidth>(key, unfit, route.top_k, n, scratch)) {
    if constexpr (kWay == Way::kChosenSoftmax) {
      undefined = __syncthreads_or(unfit) != 0;
      if (undefined) key = real ? choice_key(NAN) : 0;
    }
    choose_any(key, route.top_k, scratch);
  }
  if (threadIdx.x >= 32) return;
  const int count = scratch.candidates;
  const std::uint64_t own = scratch.candidate[lane];
  const int id = lane < count ? expert_of(own) : 0;
  float weight = scratch.score[id];
  std::uint32_t before[4] = {};
#pragma unroll 1
  for (int i = 0; i < count; i += 8) {
#pragma unroll
    for (int j = 0; j < 8; j += 2) {
      const auto two = *reinterpret_cast<const ulonglong2*>(scratch.candidate + i + j);
      before[j / 2] += exceeds(std::uint64_t{two.x}, own) + exceeds(std::uint64_t{two.y}, own);
    }
  }
  const int rank = static_cast<int>(before[0] + before[1] + (before[2] + before[3]));
  if constexpr (kWay == Way::kChosenSoftmax) {
    const float best = key_value(__reduce_max_sync(0xffffffffu, static_cast<std::uint32_t>(own >> 16)));
    weight = undefined ? NAN : __expf(weight - best);
  }
  const bool used = lane < count && rank < route.top_k;
  if (used) scratch.weight[rank] = weight;
  __syncwarp();
  if (kWay == Way::kChosenSoftmax || route.renormalise != 0) {
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < route.top_k; i += 8) {
      const float4 a = *reinterpret_cast<const float4*>(scratch.weight + i);
      const float4 b = *reinterpret_cast<const float4*>(scratch.weight + i + 4);
      sum += ((a.x + a.y) + (a.z + a.w)) + ((b.x + b.y) + (b.z + b.w));
    }
    weight = __fdividef(weight, sum);
  }
  if (used) {
    weights_out[rank] = weight * route.scale;
    ids_out[rank] = id;
  }
}

}  // namespace bk::kernels
