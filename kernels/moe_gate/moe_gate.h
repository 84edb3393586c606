#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How a logit becomes a score.
enum BkMoeScoring { BK_MOE_SQRTSOFTPLUS = 0, BK_MOE_SOFTMAX = 1, BK_MOE_SIGMOID = 2 };

/// The router's projection. Strides are in elements; both inputs are bf16 with a unit inner stride.
struct BkMoeGate {
  const void* x;  ///< [m, k], 16-byte aligned, x_stride % 8 == 0.
  const void* w;  ///< [n, k] contiguous, 16-byte aligned.
  float* logits;  ///< [m, n] fp32, stride n; moe_route takes a null pointer for "not wanted".
  void*
      workspace;  ///< bk_moe_workspace_bytes(n) bytes, 0xff in each before the first launch; every launch leaves it so.
  int64_t x_stride;
  int m;  ///< 1..32
  int n;  ///< A multiple of 16, up to 512; moe_route takes up to 256.
  int k;  ///< A multiple of 256.
};

/// What follows the projection. Ties go to the lower index; a NaN score is chosen only when nothing else is left.
struct BkMoeRoute {
  const float* bias;  ///< [n], added for the choice alone; null: none.
  float* weights;     ///< [m, top_k]
  int32_t* ids;       ///< [m, top_k], best first.
  int scoring;        ///< BkMoeScoring
  int top_k;          ///< 1..32 and <= n
  int renormalise;    ///< 1: the chosen scores are divided by their sum.
  float scale;        ///< Multiplies the weights at the end.
};

size_t bk_moe_workspace_bytes(int n);

/// logits = x w^T with fp32 accumulation in a fixed order: bitwise repeatable. One launch on `stream` (a cudaStream_t),
/// no allocation, no synchronisation. Launches that share a workspace have to be ordered. Returns a BkKernelStatus.
int bk_moe_gate(const struct BkMoeGate* gate, void* stream);

/// The whole router in one launch: projection, score, biased choice, weights. The same rules as bk_moe_gate.
int bk_moe_route(const struct BkMoeGate* gate, const struct BkMoeRoute* route, void* stream);

#ifdef __cplusplus
}
#endif
