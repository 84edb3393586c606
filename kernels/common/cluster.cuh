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
/// For blocks that have only to know of each other that they run.
__device__ inline void cluster_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed.aligned;"); }
__device__ inline void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

__device__ inline std::uint32_t shared_address(const void* mine) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(mine));
}

/// The address of `mine` in the shared memory of another block of the cluster.
__device__ inline std::uint32_t remote_address(const void* mine, int rank) {
  std::uint32_t remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(shared_address(mine)), "r"(rank));
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

/// Counts the bytes that blocks of the cluster send to this one with send(), once. It lies in shared memory.
struct Mailbox {
  alignas(8) std::uint64_t barrier;
};
/// By one thread, before the block arrives at the cluster's barrier; nobody sends before having waited there.
__device__ inline void expect_bytes(Mailbox& mailbox, int bytes) {
  const std::uint32_t barrier = shared_address(&mailbox.barrier);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
/// Puts a value where `mine` lies in the block `rank` and counts it there. No fence and no barrier follows, which is
/// what makes it quicker than put_remote().
__device__ inline void send(float* mine, Mailbox& mailbox, int rank, float value) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(remote_address(mine, rank)),
      "r"(__float_as_uint(value)), "r"(remote_address(&mailbox.barrier, rank))
      : "memory");
}
/// Waits for all that was expected, and sees it afterwards.
__device__ inline void await_bytes(Mailbox& mailbox) {
  std::uint32_t done = 0;
  while (done == 0) {
    asm volatile("{ .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(shared_address(&mailbox.barrier))
                 : "memory");
  }
}

}  // namespace bk::kernels
