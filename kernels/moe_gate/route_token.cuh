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
  int chosen[kMaxChosen];
  alignas(16) std::uint32_t group_top[kGroups];
  alignas(16) uint2 candidate[kMaxChosen];  // key, expert
  int candidates;
};

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
/// finalists keep the order of the experts among equal keys, so ties go to the lower index throughout. Fills
/// scratch.chosen.
__device__ inline void choose_any(std::uint32_t key, int top_k, RouteScratch& scratch) {
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int width = (top_k + 3) / 4 * 4;  // places of a warp's finalists
  scratch.key[threadIdx.x] = key;
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
    if (place < all && before < top_k && threadIdx.x % 4 == 0) scratch.chosen[before] = scratch.finalist_id[place];
  }
  __syncthreads();
}

/// The short way: the top_k-th largest of the maxima of 16 groups of experts is a lower bound of the top_k-th key, and
/// few keys reach it. Returns false, to every thread, when there are too few groups or too many candidates. On success
/// warp 0 alone may read scratch.chosen.
template <int kWidth>
__device__ inline bool choose_few(std::uint32_t key, int top_k, int n, RouteScratch& scratch) {
  const int lane = threadIdx.x % 32;
  if (top_k > n / kWidth) return false;
  const std::uint32_t top = __reduce_max_sync((1u << kWidth) - 1 << lane / kWidth * kWidth, key);
  if (lane % kWidth == 0 && threadIdx.x < kGroups * kWidth) scratch.group_top[threadIdx.x / kWidth] = top;
  if (threadIdx.x == 0) scratch.candidates = 0;
  __syncthreads();
  const std::uint32_t mine = scratch.group_top[lane % kGroups];
  int before = 0;
#pragma unroll
  for (int i = 0; i < kGroups; i += 4) {
    const uint4 four = *reinterpret_cast<const uint4*>(scratch.group_top + i);
    before += (four.x > mine ? 1 : 0) + (four.y > mine ? 1 : 0) + (four.z > mine ? 1 : 0) + (four.w > mine ? 1 : 0);
  }
  // The smallest maximum that fewer than top_k others exceed.
  const std::uint32_t bound = __reduce_min_sync(0xffffffffu, before < top_k ? mine : 0xffffffffu);
  if (key >= bound && key != 0) {
    const int place = atomicAdd(&scratch.candidates, 1);
    if (place < kMaxChosen) scratch.candidate[place] = make_uint2(key, threadIdx.x);
  }
  __syncthreads();
  const int count = scratch.candidates;
  if (count > kMaxChosen) return false;
  if (threadIdx.x >= 32) return true;
  const uint2 own = lane < count ? scratch.candidate[lane] : make_uint2(0, 0);
  int rank = 0;
  for (int i = 0; i < count; ++i) {
    const uint2 other = scratch.candidate[i];
    rank += (other.x > own.x || (other.x == own.x && other.y < own.y)) ? 1 : 0;
  }
  if (lane < count && rank < top_k) scratch.chosen[rank] = static_cast<int>(own.y);
  __syncwarp();
  return true;
}

/// A block of 256 threads routes one token; thread e passes the logit of expert e (any number where e >= n). kWidth is
/// that of the groups in choose_few(): n is at most 16 of them.
template <Way kWay, int kWidth>
__device__ inline void route_token(float logit, float bias, const BkMoeRoute& route, int n, RouteScratch& scratch,
                                   float* weights_out, std::int32_t* ids_out) {
  const int expert = threadIdx.x;
  const bool real = expert < n;
  const float score = router_score<kWay>(real ? logit : -INFINITY, scratch);
  std::uint32_t key = real ? choice_key(score + bias) : 0;
  bool undefined = false;
  if constexpr (kWay == Way::kChosenSoftmax) {
    undefined =
        __syncthreads_or(real && !(logit < INFINITY)) != 0;  // softmax of a NaN or an infinity is NaN throughout
    if (undefined) key = real ? choice_key(NAN) : 0;
  }
  scratch.score[expert] = score;
  if (!choose_few<kWidth>(key, route.top_k, n, scratch)) choose_any(key, route.top_k, scratch);
  if (threadIdx.x >= 32) return;
  const bool used = expert < route.top_k;
  const int id = used ? scratch.chosen[expert] : 0;
  float weight = used ? scratch.score[id] : 0.0f;
  if constexpr (kWay == Way::kChosenSoftmax) {
    const float best = __shfl_sync(0xffffffffu, weight, 0);
    weight = undefined ? NAN : used ? __expf(weight - best) : 0.0f;
  }
  const float sum = warp_sum(weight);
  if (kWay == Way::kChosenSoftmax || route.renormalise != 0) weight = __fdividef(weight, sum);
  if (used) {
    weights_out[expert] = weight * route.scale;
    ids_out[expert] = id;
  }
}

}  // namespace bk::kernels
