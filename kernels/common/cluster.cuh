#pragma once

#include "common/device.cuh"

namespace bk::kernels {

__device__ inline int cluster_rank() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// The threads of a warp have to be together. Everything written before is seen after the wait, remote memory included.
__device__ inline void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ inline void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

/// The address of `mine` in the shared memory of another block of the cluster.
__device__ inline std::uint32_t remote_address(const void* mine, int rank) {
  const auto local = static_cast<std::uint32_t>(__cvta_generic_to_shared(mine));
  std::uint32_t remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(local), "r"(rank));
  return remote;
}

__device__ inline void put_remote(float* mine, int rank, float value) {
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(remote_address(mine, rank)), "f"(value) : "memory");
}
__device__ inline void put_remote(int* mine, int rank, int value) {
  asm volatile("st.shared::cluster.s32 [%0], %1;" ::"r"(remote_address(mine, rank)), "r"(value) : "memory");
}
__device__ inline void add_remote(int* mine, int rank, int value) {
  asm volatile("red.relaxed.cluster.shared::cluster.add.s32 [%0], %1;" ::"r"(remote_address(mine, rank)), "r"(value)
               : "memory");
}

}  // namespace bk::kernels
