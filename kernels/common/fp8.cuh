#pragma once

#include <cuda_fp8.h>

#include "common/device.cuh"

namespace bk::kernels {

/// The smallest power of two that brings `largest` (at least 1e-4) to at most 448.
__device__ inline float power_scale(float largest) {
  const std::uint32_t bits = __float_as_uint(__fdiv_rn(fmaxf(largest, 1e-4f), 448.0f));
  return __uint_as_float(((bits >> 23) + ((bits & 0x7fffffu) != 0 ? 1u : 0u)) << 23);
}

__device__ inline std::uint32_t e4m3_of(float value) { return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3); }

/// 4 E4M3 bytes to two pairs of fp16.
__device__ inline void widen_fp16(std::uint32_t bytes, std::uint32_t& low, std::uint32_t& high) {
  asm("{\n .reg .b16 a, b;\n mov.b32 {a, b}, %2;\n cvt.rn.f16x2.e4m3x2 %0, a;\n cvt.rn.f16x2.e4m3x2 %1, b;\n}"
      : "=r"(low), "=r"(high)
      : "r"(bytes));
}

/// c += a * b for a 16x16 tile a and a 16x8 tile b of fp16, one warp.
__device__ inline void mma_fp16(float (&c)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2, std::uint32_t a3,
                                std::uint32_t b0, std::uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

__device__ inline float warp_max(float value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
  return value;
}

}  // namespace bk::kernels
