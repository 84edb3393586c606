#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// One draft position: for each request b, logits[b, :] = -inf but logits[b, idx[b, j]] = base[b, j] + w2[idx[b, j]] .
/// w1[prev[b]]. base and logits share one type; the sum is in fp32 and rounded once. An index outside [0, v) is left
/// out; indices of one request have to differ, or equal ones to carry equal base values. NaN and infinity propagate as
/// in any sum.
struct BkMarkovTopk {
  const void* base;       ///< [batch, count]
  const int64_t* idx;     ///< [batch, count]
  const int64_t* prev;    ///< [batch], the token before; it has to lie in [0, v).
  const void* w1;         ///< [v, 256] bf16 contiguous, 16-byte aligned
  const void* w2;         ///< [v, 256] bf16 contiguous, 16-byte aligned
  void* logits;           ///< [batch, v], 16-byte aligned
  int64_t logits_stride;  ///< In elements, a multiple of 8.
  int batch;              ///< 1..64
  int count;              ///< 1..2048 and <= v
  int v;                  ///< Up to 1,048,576.
  int fp32;               ///< 1: base and logits are fp32, 0: bf16.
};

/// The `count` largest of each row of logits, in rising order of index; of equal ones the lower index; NaN after every
/// number.
struct BkTopkSelect {
  const void* logits;  ///< [batch, v]
  void* values;        ///< [batch, count], the type of logits
  int64_t* idx;        ///< [batch, count]
  int64_t logits_stride;
  int batch;  ///< 1..1024
  int v;
  int count;  ///< 1..v
  int fp32;
};

/// One launch, no allocation, no synchronisation, bitwise repeatable. Returns a BkKernelStatus.
int bk_markov_topk(const struct BkMarkovTopk* job, void* stream);
int bk_topk_select(const struct BkTopkSelect* job, void* stream);

#ifdef __cplusplus
}
#endif
