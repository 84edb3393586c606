#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// logits = (x w8^T) * scale: fp8 weights (E4M3, one scale a row), bf16 activations. Strides are in elements.
struct BkFp8Head {
  const void* x;  ///< [m, k] bf16, 16-byte aligned, x_stride % 8 == 0. Finite values stay under 2^60 in size.
  const void*
      w8;  ///< [v, k] E4M3 contiguous, 16-byte aligned, without NaN bytes (0x7f, 0xff): they would count as 480.
  const float* scale;  ///< [v]
  void* logits;        ///< [m, v], bf16 or fp32
  int64_t x_stride;
  int64_t logits_stride;
  int m;            ///< 1..32
  int v;            ///< A multiple of 16.
  int k;            ///< A multiple of 256, up to 4096.
  int logits_fp32;  ///< 1: fp32 logits, 0: bf16.
};

/// Row-wise quantiser: scale = max(largest finite |w|, 1e-6) / 448, w8 = e4m3(w / scale), saturated; NaN counts as 0
/// and an infinity as the largest value of its sign, so that no NaN byte appears and a row of zeros stays zero.
struct BkFp8Quantise {
  const void* w;  ///< [v, k] bf16 contiguous, 16-byte aligned
  void* w8;       ///< [v, k], 16-byte aligned
  float* scale;   ///< [v]
  int v;          ///< At least 1.
  int k;          ///< A multiple of 16.
};

/// One launch, no allocation, no synchronisation, bitwise
/// repeatable. Returns a BkKernelStatus.
int bk_fp8_head(const struct BkFp8Head* head, void* stream);
int bk_fp8_quantise(const struct BkFp8Quantise* job, void* stream);

#ifdef __cplusplus
}
#endif
