#pragma once

#include <array>
#include <atomic>
#include <optional>

#include "common/cluster.cuh"
#include "moe_gate/projection.cuh"
#include "moe_gate/route_token.cuh"

namespace bk::kernels {

/// What one_cluster_kernel serves.
constexpr int kHalves = 2;
constexpr int kSmallExperts = 128;
constexpr int kSmallTokens = 8;
constexpr int kSmallInner = 2048;

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
std::optional<int> launch_where_it_fits(const BkMoeGate& gate, const BkMoeRoute& route, cudaStream_t stream) {
  if (!fits<kWay, kSteps>()) return std::nullopt;
  const OneCluster launch(stream);
  return launch_status(cudaLaunchKernelEx(&launch.config, one_cluster_kernel<kWay, kSteps>, gate, route));
}

/// The launch's status; nothing, and no launch, where one_cluster_kernel does not serve this router on this device.
template <Way kWay>
std::optional<int> launch_in_one_cluster(const BkMoeGate& gate, const BkMoeRoute& route, cudaStream_t stream) {
  if (gate.n != kSmallExperts || gate.m > kSmallTokens || gate.k > kSmallInner) return std::nullopt;
  if (gate.k == kSmallInner) return launch_where_it_fits<kWay, 4>(gate, route, stream);
  if (gate.k % (kHalves * kWarps * 32) != 0) return std::nullopt;
  return launch_where_it_fits<kWay, 0>(gate, route, stream);
}

}  // namespace bk::kernels
