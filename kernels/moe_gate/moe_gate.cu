// The expert dimension is cut into groups of 16 and the inner one into up to 8 slices: 128 blocks for [256, 4096], so
// that the 2 MB of weights come from all multiprocessors at once. For the router a block leaves its partial sums in the
// workspace, and one more block a token, at the end of the grid, waits for them, adds the slices in order and goes on.
// The payload is its own flag: an empty slot holds 0xffffffff, which no producer writes. Producers never wait, and
// waiting blocks are at most as many as tokens, so the launch ends however few blocks fit the device at a time.
#include <type_traits>

#include "common/cluster.cuh"
#include "common/device.cuh"
#include "moe_gate/moe_gate.h"
#include "moe_gate/one_cluster.cuh"
#include "moe_gate/projection.cuh"
#include "moe_gate/route_token.cuh"

namespace bk::kernels {
namespace {

constexpr int kMaxTokens = 32;
constexpr int kMaxExperts = 512;
constexpr int kMaxSlices = 8;
constexpr std::uint32_t kEmpty = 0xffffffffu;

__device__ inline void put_slot(std::uint32_t* slot, float value) {
  std::uint32_t bits = __float_as_uint(value);
  if (bits == kEmpty) bits = 0x7fffffffu;
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(slot), "r"(bits) : "memory");
}

__device__ inline std::uint32_t look_slot(const std::uint32_t* slot) {
  std::uint32_t bits;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(bits) : "l"(slot) : "memory");
  return bits;
}

__device__ inline void clear_slot(std::uint32_t* slot) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(slot), "r"(kEmpty) : "memory");
}

__device__ inline float collect(const BkMoeGate& gate, int slices, int token, int expert) {
  std::uint32_t bits[kMaxSlices];
  auto* slot = static_cast<std::uint32_t*>(gate.workspace) + token * gate.n + expert;
  const int apart = kMaxTokens * gate.n;
  bool waiting = true;
#pragma unroll
  for (int s = 0; s < kMaxSlices; ++s) bits[s] = s < slices ? kEmpty : 0u;
  while (waiting) {
    waiting = false;
#pragma unroll
    for (int s = 0; s < kMaxSlices; ++s) {
      if (bits[s] == kEmpty) bits[s] = look_slot(slot + s * apart);
    }
#pragma unroll
    for (int s = 0; s < kMaxSlices; ++s) waiting = waiting || bits[s] == kEmpty;
  }
  float total = 0;
#pragma unroll
  for (int s = 0; s < kMaxSlices; ++s) {
    if (s < slices) {
      total += __uint_as_float(bits[s]);
      clear_slot(slot + s * apart);
    }
  }
  return total;
}

template <Way kWay, int kWidth>
__device__ inline void route_block(const BkMoeGate& gate, const BkMoeRoute& route, int slices, int token) {
  __shared__ RouteScratch scratch;
  const int expert = threadIdx.x;
  const bool real = expert < gate.n;
  const float bias = route.bias != nullptr && real ? __ldg(route.bias + expert) : 0.0f;
  clear_scratch(scratch);
  const float logit = real ? collect(gate, slices, token, expert) : 0.0f;
  if (gate.logits != nullptr && real) gate.logits[token * gate.n + expert] = logit;
  route_token<kWay, kWidth>(logit, bias, route, gate.n, scratch, route.weights + token * route.top_k,
                            route.ids + token * route.top_k);
}

/// What is done with the logits: kept, or one of the ways of routing.
struct KeepLogits {
  __device__ static void finish(const BkMoeGate& gate, const BkMoeRoute&, int slices, int token) {
    for (int expert = threadIdx.x; expert < gate.n; expert += kThreads) {
      gate.logits[token * gate.n + expert] = collect(gate, slices, token, expert);
    }
  }
};

template <Way kWay, int kWidth>
struct RouteLogits {
  __device__ static void finish(const BkMoeGate& gate, const BkMoeRoute& route, int slices, int token) {
    route_block<kWay, kWidth>(gate, route, slices, token);
  }
};

template <int kTiles, int kSteps, class After>
__global__ __launch_bounds__(kThreads) void router_kernel(const __grid_constant__ BkMoeGate gate,
                                                          const __grid_constant__ BkMoeRoute route, int slices) {
  const int producers = gate.n / kGroup * slices;
  if (static_cast<int>(blockIdx.x) < producers) {
    __shared__ Partial<kTiles> partial;
    const int slice = blockIdx.x % slices;
    const int row = blockIdx.x / slices * kGroup;
    float sum[kTiles][4] = {};
    multiply_share<kTiles, kSteps>(gate, slice, slices, row, sum);
    gather<kTiles>(sum, partial);
    auto* slots = static_cast<std::uint32_t*>(gate.workspace) + slice * kMaxTokens * gate.n + row;
    for_sums<kTiles>(gate.m, [&](int token, int expert) {
      put_slot(slots + token * gate.n + expert, add_warps<kTiles>(partial, token, expert));
    });
    return;
  }
  After::finish(gate, route, slices, blockIdx.x - producers);
}

/// The logits alone, with the slices of a group as one cluster: partial sums go to the shared memory of the block that
/// owns two of the 16 experts, which is quicker than through the workspace.
template <int kTiles, int kSteps>
__global__ __cluster_dims__(kMaxSlices, 1, 1)
    __launch_bounds__(kThreads) void cluster_kernel(const __grid_constant__ BkMoeGate gate) {
  __shared__ Partial<kTiles> partial;
  __shared__ float inbox[kMaxSlices][kTiles * 8 * 2];
  __shared__ Mailbox mailbox;
  if (threadIdx.x == 0) expect_bytes(mailbox, kMaxSlices * 2 * gate.m * sizeof(float));
  cluster_arrive_relaxed();
  const int slice = blockIdx.x % kMaxSlices;
  const int row = blockIdx.x / kMaxSlices * kGroup;
  float sum[kTiles][4] = {};
  multiply_share<kTiles, kSteps>(gate, slice, kMaxSlices, row, sum);
  gather<kTiles>(sum, partial);
  cluster_wait();
  for_sums<kTiles>(gate.m, [&](int token, int expert) {
    send(&inbox[slice][token * 2 + expert % 2], mailbox, expert / 2, add_warps<kTiles>(partial, token, expert));
  });
  if (static_cast<int>(threadIdx.x) < 2 * gate.m) {
    await_bytes(mailbox);
    float total = 0;
#pragma unroll
    for (int other = 0; other < kMaxSlices; ++other) total += inbox[other][threadIdx.x];
    gate.logits[threadIdx.x / 2 * gate.n + row + slice * 2 + threadIdx.x % 2] = total;
  }
}

int slices_for(int k) {
  for (int slices = kMaxSlices; slices > 1; slices /= 2) {
    if (k % (slices * kWarps * 32) == 0) return slices;
  }
  return 1;
}

template <int kTiles, int kSteps, class After>
int launch_steps(const BkMoeGate& gate, const BkMoeRoute& route, int slices, cudaStream_t stream) {
  const int producers = gate.n / kGroup * slices;
  if (std::is_same_v<After, KeepLogits> && slices == kMaxSlices) {
    cluster_kernel<kTiles, kSteps><<<producers, kThreads, 0, stream>>>(gate);
  } else {
    router_kernel<kTiles, kSteps, After><<<producers + gate.m, kThreads, 0, stream>>>(gate, route, slices);
  }
  return launch_status(cudaGetLastError());
}

template <int kTiles, class After>
int launch(const BkMoeGate& gate, const BkMoeRoute& route, cudaStream_t stream) {
  const int slices = slices_for(gate.k);
  const int steps = gate.k / (slices * kWarps * 32);
  if (steps == 1) return launch_steps<kTiles, 1, After>(gate, route, slices, stream);
  if (steps == 2) return launch_steps<kTiles, 2, After>(gate, route, slices, stream);
  return launch_steps<kTiles, 0, After>(gate, route, slices, stream);
}

template <class After>
int launch_for_tokens(const BkMoeGate& gate, const BkMoeRoute& route, cudaStream_t stream) {
  if (gate.m <= 8) return launch<1, After>(gate, route, stream);
  if (gate.m <= 16) return launch<2, After>(gate, route, stream);
  return launch<4, After>(gate, route, stream);
}

template <Way kWay>
int launch_route(const BkMoeGate& gate, const BkMoeRoute& route, cudaStream_t stream) {
  if (const auto status = launch_in_one_cluster<kWay>(gate, route, stream)) return *status;
  return gate.n <= kRouteThreads / 2 ? launch_for_tokens<RouteLogits<kWay, kGroups / 2>>(gate, route, stream)
                                     : launch_for_tokens<RouteLogits<kWay, kGroups>>(gate, route, stream);
}

int check(const BkMoeGate* gate) {
  if (gate == nullptr || gate->x == nullptr || gate->w == nullptr || gate->workspace == nullptr)
    return BK_KERNEL_BAD_ARGUMENT;
  if (gate->m < 1 || gate->m > kMaxTokens || gate->n < kGroup || gate->n > kMaxExperts || gate->n % kGroup != 0 ||
      gate->k < 256 || gate->k % 256 != 0 || gate->x_stride < gate->k) {
    return BK_KERNEL_BAD_SHAPE;
  }
  if (!is_aligned16(gate->x) || !is_aligned16(gate->w) || gate->x_stride % 8 != 0) return BK_KERNEL_BAD_ALIGNMENT;
  return BK_KERNEL_OK;
}

}  // namespace
}  // namespace bk::kernels

using namespace bk::kernels;

size_t bk_moe_workspace_bytes(int n) { return sizeof(float) * kMaxSlices * kMaxTokens * static_cast<size_t>(n); }

int bk_moe_gate(const BkMoeGate* gate, void* stream) {
  if (const int status = check(gate); status != BK_KERNEL_OK) return status;
  if (gate->logits == nullptr) return BK_KERNEL_BAD_ARGUMENT;
  return launch_for_tokens<KeepLogits>(*gate, BkMoeRoute{}, static_cast<cudaStream_t>(stream));
}

int bk_moe_route(const BkMoeGate* gate, const BkMoeRoute* route, void* stream) {
  if (const int status = check(gate); status != BK_KERNEL_OK) return status;
  if (route == nullptr || route->weights == nullptr || route->ids == nullptr || route->scoring < BK_MOE_SQRTSOFTPLUS ||
      route->scoring > BK_MOE_SIGMOID) {
    return BK_KERNEL_BAD_ARGUMENT;
  }
  if (route->top_k < 1 || route->top_k > 32 || route->top_k > gate->n || gate->n > kRouteThreads)
    return BK_KERNEL_BAD_SHAPE;
  const auto on = static_cast<cudaStream_t>(stream);
  if (route->scoring == BK_MOE_SQRTSOFTPLUS) return launch_route<Way::kSqrtSoftplus>(*gate, *route, on);
  if (route->scoring == BK_MOE_SIGMOID) return launch_route<Way::kSigmoid>(*gate, *route, on);
  return route->bias == nullptr && route->renormalise != 0 ? launch_route<Way::kChosenSoftmax>(*gate, *route, on)
                                                           : launch_route<Way::kSoftmax>(*gate, *route, on);
}
