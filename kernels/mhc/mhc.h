#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Hyper-connections of 4 residual streams, what comes before a layer. For each token, in fp32:
/// mix[24] = (x . fn^T) * rsqrt(mean(x^2) + 1e-6); pre = sigmoid(mix[0..3] * scale[0] + base) + 1e-6;
/// post = 2 sigmoid(mix[4..7] * scale[1] + base); comb = 20 rounds of Sinkhorn on mix[8..23] * scale[2] + base;
/// layer_in = bf16(sum_j pre_j x_j), with `norm` then divided by its root mean square and multiplied by norm.
/// NaN and infinity in x or fn make that token's results NaN.
struct BkMhcPre {
  const void* x;       ///< [t, 4, h] bf16, contiguous, 16-byte aligned
  const float* fn;     ///< [24, 4 h], 16-byte aligned
  const float* scale;  ///< [3]
  const float* base;   ///< [24]
  const void* norm;    ///< [h] bf16, 16-byte aligned; null: no normalisation
  float* post;         ///< [t, 4]
  float* comb;         ///< [t, 4, 4], the first index is the stream that is read
  void* layer_in;      ///< [t, h] bf16, 16-byte aligned
  void* workspace;     ///< bk_mhc_workspace_bytes(h) bytes, 0xff in each before the first launch.
  int t;               ///< 1..65536
  int h;               ///< A multiple of 512, up to 4096.
};

/// What comes after it: out_k = bf16(post_k y + sum_j comb_jk x_j), summed in the order of j in fp32.
struct BkMhcPost {
  const void* x;      ///< [t, 4, h] bf16, contiguous, 16-byte aligned
  const void* y;      ///< [t, h] bf16, the layer's output, 16-byte aligned
  const float* post;  ///< [t, 4], 16-byte aligned
  const float* comb;  ///< [t, 4, 4], 16-byte aligned
  void* out;          ///< [t, 4, h] bf16, 16-byte aligned; may be x.
  int t;
  int h;
};

/// What comes after the last layer, in fp32: pre[4] = sigmoid((x . fn^T) * rsqrt(mean(x^2) + 1e-6) * scale + base) +
/// 1e-6; out = bf16(sum_j pre_j x_j). NaN and infinity in x make that token's result NaN.
struct BkMhcHead {
  const void* x;       ///< [t, 4, h] bf16, contiguous, 16-byte aligned
  const float* fn;     ///< [4, 4 h], 16-byte aligned
  const float* scale;  ///< [1]
  const float* base;   ///< [4]
  void* out;           ///< [t, h] bf16, 16-byte aligned
  int t;               ///< 1..65536
  int h;               ///< A multiple of 8, up to 8192.
};

size_t bk_mhc_workspace_bytes(int h);

/// Up to 16 tokens: the projection's inner dimension is spread over the device and the tokens' results are finished in
/// the same launch. Above: one launch for the projection, one for the rest, and x is read twice. No allocation, no
/// synchronisation, bitwise repeatable. Launches that share a workspace have to be ordered. Returns a BkKernelStatus.
int bk_mhc_pre(const struct BkMhcPre* job, void* stream);
int bk_mhc_post(const struct BkMhcPost* job, void* stream);

/// bk_mhc_post of one layer and bk_mhc_pre of the next in one launch, for up to 16 tokens, with the same bits as the
/// two. before->out has to be job->x, and no buffer of `before` may be one that the launch writes.
int bk_mhc_post_pre(const struct BkMhcPost* before, const struct BkMhcPre* job, void* stream);

/// One launch, no allocation, no synchronisation, bitwise repeatable. Returns a BkKernelStatus.
int bk_mhc_head(const struct BkMhcHead* job, void* stream);

#ifdef __cplusplus
}
#endif
