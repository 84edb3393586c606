// The expert dimension is cut into groups of 16 and the inner one into up to 8 slices: 128 blocks for [256, 4096], so
// that the 2 MB of weights come from all multiprocessors at once. For the router a block leaves its partial sums in the
// workspace, and one more block a token, at the end of the grid, waits for them, adds the slices in order and goes on.
// The payload is its own flag: an empty slot holds 0xffffffff, which no producer writes. Producers never wait, and
// waiting blocks are at most as many as tokens, so the launch ends however few blocks fit the device at a time.
#include <array>
#include <atomic>
#include <type_traits>

#include "common/cluster.cuh"
#include "common/device.cuh"
#include "moe_gate/moe_gate.h"
#include "moe_gate/route_token.cuh"

namespace bk::kernels {
namespace {

constexpr int kMaxTokens = 32;
constexpr int kMaxExperts = 512;
constexpr int kMaxSlices = 8;
constexpr int kGroup = 16;
constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;
constexpr std::uint32_t kEmpty = 0xffffffffu;

/// What one_cluster_kernel serves.
constexpr int kHalves = 2;
constexpr int kSmallExperts = 128;
constexpr int kSmallTokens = 8;
constexpr int kSmallInner = 2048;

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

/// What a warp multiplies in kSteps steps of 32 of the inner dimension. A lane loads 8 neighbours of k at a time, for
/// the weights and for x alike: the order of k inside a tile does not matter to a dot product, and the loads stay 16
/// bytes wide without shared memory.
template <int kTiles, int kSteps>
struct Operands {
  uint4 upper[kSteps];
  uint4 lower[kSteps];
  uint4 x[kSteps][kTiles];
};

template <int kTiles, int kSteps>
__device__ inline void load(const BkMoeGate& gate, int row, int k_begin, Operands<kTiles, kSteps>& operands) {
  const int lane = threadIdx.x % 32;
  const auto* w = static_cast<const __nv_bfloat16*>(gate.w) + static_cast<std::int64_t>(row + lane / 4) * gate.k +
                  k_begin + lane % 4 * 8;
  const auto* x = static_cast<const __nv_bfloat16*>(gate.x) + k_begin + lane % 4 * 8;
  const std::int64_t below = std::int64_t{8} * gate.k;
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    operands.upper[step] = load_streaming(w + step * 32);
    operands.lower[step] = load_streaming(w + below + step * 32);
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const int token = tile * 8 + lane / 4;
      operands.x[step][tile] = make_uint4(0, 0, 0, 0);
      if (token < gate.m) operands.x[step][tile] = load_cached(x + token * gate.x_stride + step * 32);
    }
  }
}

/// Few tiles make two chains of products, as one product waits for the one before; many would run out of registers.
template <int kTiles, int kSteps>
__device__ inline void multiply(const Operands<kTiles, kSteps>& operands, float (&sum)[kTiles][4]) {
  float other[kTiles][4] = {};
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const uint4& a = operands.upper[step];
    const uint4& b = operands.lower[step];
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const uint4& v = operands.x[step][tile];
      mma_bf16(sum[tile], a.x, b.x, a.y, b.y, v.x, v.y);
      mma_bf16(kTiles < 4 ? other[tile] : sum[tile], a.z, b.z, a.w, b.w, v.z, v.w);
    }
  }
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sum[tile][i] += other[tile][i];
  }
}

/// A block's sums, before they are added over its warps.
template <int kTiles>
using Partial = float[kWarps][kTiles * 8][kGroup + 1];

template <int kTiles>
__device__ inline void gather(const float (&sum)[kTiles][4], Partial<kTiles>& partial) {
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
    const int token = tile * 8 + lane % 4 * 2;
    partial[warp][token][lane / 4] = sum[tile][0];
    partial[warp][token + 1][lane / 4] = sum[tile][1];
    partial[warp][token][lane / 4 + 8] = sum[tile][2];
    partial[warp][token + 1][lane / 4 + 8] = sum[tile][3];
  }
  __syncthreads();
}

template <int kTiles>
__device__ inline float add_warps(const Partial<kTiles>& partial, int token, int expert) {
  float total = 0;
#pragma unroll
  for (int warp = 0; warp < kWarps; ++warp) total += partial[warp][token][expert];
  return total;
}

/// Deals the sums of a block out to its threads.
template <int kTiles, class Do>
__device__ inline void for_sums(int m, const Do& with) {
#pragma unroll
  for (int first = 0; first < kTiles * 8 * kGroup; first += kThreads) {
    const int i = first + static_cast<int>(threadIdx.x);
    if (i < kGroup * m) with(i / kGroup, i % kGroup);
  }
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

template <int kTiles, int kSteps>
__device__ inline void multiply_share(const BkMoeGate& gate, int slice, int slices, int row, float (&sum)[kTiles][4]) {
  const int share = gate.k / (slices * kWarps);
  const int begin = (slice * kWarps + static_cast<int>(threadIdx.x) / 32) * share;
  if constexpr (kSteps > 0) {
    Operands<kTiles, kSteps> operands;
    load<kTiles, kSteps>(gate, row, begin, operands);
    multiply<kTiles, kSteps>(operands, sum);
  } else {
#pragma unroll 2
    for (int at = begin; at < begin + share; at += 32) {
      Operands<kTiles, 1> operands;
      load<kTiles, 1>(gate, row, at, operands);
      multiply<kTiles, 1>(operands, sum);
    }
  }
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

/// A small router as one cluster of 16 blocks: each has 16 experts and half of the inner dimension, and its sums go
/// straight to the block that routes the token, so that nothing passes through the L2 cache in between.
template <Way kWay, int kSteps>
__global__ __launch_bounds__(kThreads) void one_cluster_kernel(const __grid_constant__ BkMoeGate gate,
                                                               const __grid_constant__ BkMoeRoute route) {
  __shared__ Partial<1> partial;
  __shared__ float inbox[kHalves][kSmallExperts];
  __shared__ RouteScratch scratch;
  __shared__ Mailbox mailbox;
  const int slice = blockIdx.x % kHalves;
  const int row = blockIdx.x / kHalves * kGroup;
  if (threadIdx.x == 0) expect_bytes(mailbox, kHalves * kSmallExperts * sizeof(float));
  cluster_arrive_relaxed();
  clear_scratch(scratch);
  float sum[1][4] = {};
  if constexpr (kSteps > 0) {
    Operands<1, kSteps> operands;
    load<1, kSteps>(gate, row, (slice * kWarps + static_cast<int>(threadIdx.x) / 32) * kSteps * 32, operands);
    cluster_wait();  // here, or the compiler would put some loads behind the first products
    multiply<1, kSteps>(operands, sum);
  } else {
    cluster_wait();
    multiply_share<1, 0>(gate, slice, kHalves, row, sum);
  }
  gather<1>(sum, partial);
  for_sums<1>(gate.m, [&](int token, int expert) {
    send(&inbox[slice][row + expert], mailbox, token, add_warps<1>(partial, token, expert));
  });
  const int token = blockIdx.x;
  if (token >= gate.m) return;
  const int expert = threadIdx.x;
  const bool real = expert < gate.n;
  const float bias = route.bias != nullptr && real ? __ldg(route.bias + expert) : 0.0f;
  await_bytes(mailbox);
  const float logit = real ? inbox[0][expert] + inbox[1][expert] : 0.0f;
  if (gate.logits != nullptr && real) gate.logits[token * gate.n + expert] = logit;
  route_token<kWay, kGroups / 2>(logit, bias, route, gate.n, scratch, route.weights + token * route.top_k,
                                 route.ids + token * route.top_k);
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

/// A launch of one_cluster_kernel, whose size not every device, and no partition of one, has room for.
struct OneCluster {
  cudaLaunchConfig_t config{};
  cudaLaunchAttribute size{};
  explicit OneCluster(cudaStream_t stream) {
    size.id = cudaLaunchAttributeClusterDimension;
    size.val.clusterDim = {kSmallExperts / kGroup * kHalves, 1, 1};
    config.gridDim = dim3(size.val.clusterDim.x);
    config.blockDim = dim3(kThreads);
    config.stream = stream;
    config.attrs = &size;
    config.numAttrs = 1;
  }
  OneCluster(const OneCluster&) = delete;
  OneCluster& operator=(const OneCluster&) = delete;
};

template <class Kernel>
bool has_room(Kernel kernel) {
  const OneCluster launch(nullptr);
  int clusters = 0;
  const bool known = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) == cudaSuccess &&
                     cudaOccupancyMaxActiveClusters(&clusters, kernel, &launch.config) == cudaSuccess;
  if (!known) (void)cudaGetLastError();
  return known && clusters > 0;
}

/// Whether the kernel fits the current device; asked once a device and kernel.
template <Way kWay, int kSteps>
bool fits() {
  constexpr int kDevices = 64;
  static std::array<std::atomic<int>, kDevices> answers{};  // 0: not asked, 1: no, 2: yes
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess || device >= kDevices) return false;
  int answer = answers[device].load(std::memory_order_relaxed);
  if (answer == 0) {
    answer = has_room(one_cluster_kernel<kWay, kSteps>) ? 2 : 1;
    answers[device].store(answer, std::memory_order_relaxed);
  }
  return answer == 2;
}

template <Way kWay, int kSteps>
int launch_one_cluster(const BkMoeGate& gate, const BkMoeRoute& route, cudaStream_t stream) {
  const OneCluster launch(stream);
  return launch_status(cudaLaunchKernelEx(&launch.config, one_cluster_kernel<kWay, kSteps>, gate, route));
}

template <Way kWay>
int launch_route(const BkMoeGate& gate, const BkMoeRoute& route, cudaStream_t stream) {
  if (gate.n == kSmallExperts && gate.m <= kSmallTokens && gate.k <= kSmallInner &&
      gate.k % (kHalves * kWarps * 32) == 0) {
    if (gate.k == kSmallInner && fits<kWay, 4>()) return launch_one_cluster<kWay, 4>(gate, route, stream);
    if (gate.k < kSmallInner && fits<kWay, 0>()) return launch_one_cluster<kWay, 0>(gate, route, stream);
  }
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
