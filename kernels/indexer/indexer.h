#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BK_INDEX_HEADS = 64, BK_INDEX_DIM = 128, BK_INDEX_ROPE = 64 };

/// The indexer's queries: rotates the last 64 of 128 dimensions by neighbouring pairs in fp32, rounds to bf16, takes a
/// power of two as each head's scale (the largest number comes to at most 448) and stores E4M3 (saturating, NaN gives
/// NaN bytes); weight_out = weight * scale * 128^-0.5 * 64^-0.5.
struct BkIndexerQuery {
  const void* q;             ///< [t, 64, 128] bf16, contiguous, 16-byte aligned
  const void* weight;        ///< [t, 64], fp32 or bf16
  const int64_t* positions;  ///< [t], each in [0, max_position)
  const float* cos_sin;      ///< [max_position, 64]: 32 cosines, then 32 sines; 16-byte aligned
  void* q8;                  ///< [t, 64, 128] E4M3, 16-byte aligned
  float* weight_out;         ///< [t, 64]
  int64_t max_position;
  int t;
  int weight_bf16;  ///< 1: weight is bf16, 0: fp32.
};

/// scores[row, s] = k_scale[s] * sum over heads of weight[row, h] * max(0, q8[row, h] . k8[s]) for s < bound[row], -inf
/// beyond. The sum's order is fixed.
struct BkIndexerScores {
  const void* q8;        ///< [t, 64, 128] E4M3, 16-byte aligned
  const float* weight;   ///< [t, 64], weight_out of the queries
  const void* k8;        ///< [s, 128] E4M3, 16-byte aligned
  const float* k_scale;  ///< [s]
  const int32_t* bound;  ///< [t], entries that a row may see: (position + 1) / 4
  float* scores;         ///< [t, s], rows scores_stride apart
  int64_t scores_stride;
  int t;
  int s;
};

/// Places in the cache for chosen entries: block_table[row, i / block_size] * block_size + i % block_size, and -1 for a
/// choice that is negative or not below the row's bound; counts[row] of the others. The choices keep their places.
struct BkIndexerGlobalise {
  const int64_t* chosen;       ///< [t, count]
  const int32_t* bound;        ///< [t]; 0 for padding
  const int32_t* token_rows;   ///< [t], the token's row of block_table
  const int32_t* block_table;  ///< [requests, width]
  int32_t* slots;              ///< [t, count]
  int32_t* counts;             ///< [t]
  int t;
  int count;
  int block_size;
  int width;
};

/// One launch each, no allocation, no synchronisation, bitwise repeatable. The top 512 of the scores are
/// bk_topk_select's.
int bk_indexer_query(const struct BkIndexerQuery* job, void* stream);
int bk_indexer_scores(const struct BkIndexerScores* job, void* stream);
int bk_indexer_globalise(const struct BkIndexerGlobalise* job, void* stream);

#ifdef __cplusplus
}
#endif
