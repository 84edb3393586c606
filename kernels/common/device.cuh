#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "common/status.h"

namespace bk::kernels {

inline bool is_aligned16(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0; }

inline int launch_status(cudaError_t error) { return error == cudaSuccess ? BK_KERNEL_OK : BK_KERNEL_LAUNCH_FAILED; }

/// An attribute of the current device, or 0.
inline int device_number(cudaDeviceAttr attribute) {
  int device = 0;
  int number = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return 0;
  return cudaDeviceGetAttribute(&number, attribute, device) == cudaSuccess ? number : 0;
}

/// Programmatic dependent launch: the kernel after this one on the stream may begin where it was launched so, and waits
/// itself before it touches what this one writes.
__device__ inline void let_next_begin() { asm volatile("griddepcontrol.launch_dependents;"); }
__device__ inline void wait_for_previous() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

/// Reads 16 bytes that are used once: they pass by the L1 cache.
__device__ inline uint4 load_streaming(const void* pointer) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(pointer));
  return v;
}

/// As load_cached(), in the order in which it stands among other asm.
__device__ inline uint4 load_volatile(const void* pointer) {
  uint4 v;
  asm volatile("ld.global.nc.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(pointer));
  return v;
}

__device__ inline uint4 load_cached(const void* pointer) { return __ldg(static_cast<const uint4*>(pointer)); }

/// Writes what this launch does not read again past the L1 cache: a launch that writes much ends sooner.
__device__ inline void store_past_l1(uint4* to, const uint4& v) {
  asm volatile("st.global.L1::no_allocate.v4.b32 [%0], {%1,%2,%3,%4};" ::"l"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}
__device__ inline void store_past_l1(float* to, float v) {
  asm volatile("st.global.L1::no_allocate.f32 [%0], %1;" ::"l"(to), "f"(v) : "memory");
}
__device__ inline void store_past_l1(__nv_bfloat16* to, __nv_bfloat16 v) {
  asm volatile("st.global.L1::no_allocate.b16 [%0], %1;" ::"l"(to), "h"(__bfloat16_as_ushort(v)) : "memory");
}

/// c += a * b for a 16x16 tile a and a 16x8 tile b of bf16, one warp.
__device__ inline void mma_bf16(float (&c)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2, std::uint32_t a3,
                                std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

/// The sum over the warp's lanes, in an order that never changes.
__device__ inline float warp_sum(float value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

__device__ inline float bf16_low(std::uint32_t pair) { return __uint_as_float(pair << 16); }
__device__ inline float bf16_high(std::uint32_t pair) { return __uint_as_float(pair & 0xffff0000u); }

}  // namespace bk::kernels
