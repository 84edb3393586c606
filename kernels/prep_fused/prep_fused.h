#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BK_PREP_MAX_GROUPS = 7, BK_PREP_MAX_REQUESTS = 256, BK_PREP_MAX_QUERY = 64 };

/// The tensors of one KV group. An entry of the group's cache stands for `ratio` tokens. Rows of requests that are not
/// live are zero, their slots -1.
struct BkPrepGroup {
  int32_t* block_table;  ///< [requests, width]: the request's blocks, then 0
  int64_t* slots;     ///< [requests * query]: block * block_size + place of the entry that the token completes, or -1
  int32_t* seq_lens;  ///< [requests]: entries, seq_len / ratio
  int32_t* token_seq_lens;  ///< [requests * query]: (position + 1) / ratio
  int32_t* token_rows;      ///< [requests * query]: the token's request
  int32_t* block_counts;    ///< [requests]: blocks that hold entries
  int block_size;           ///< Entries of a block, a power of two.
  int ratio;                ///< 1 or a power of two.
  int width;                ///< Columns of block_table.
};

/// A decode step's input preparation in one launch. Up to 8 KB of words travel with it; more, and those of a call that
/// is captured in a graph, are copied first, in one copy from pinned host memory. Pointers may change from step to
/// step; they are read at every call.
struct BkPrep {
  const void* staging;  ///< Host memory with the words of pack_step(); must stay as it is until the copy is done.
  void* packed;         ///< Device memory for it.
  int64_t bytes;
  int64_t* positions;     ///< [requests * query]
  int32_t* seq_lens;      ///< [requests]
  int32_t* query_start;   ///< [requests + 1]; constant after the last live request
  int32_t* logits_index;  ///< [requests * query], the token's own number; -1 beyond the live ones
  struct BkPrepGroup group[BK_PREP_MAX_GROUPS];
  int groups;
  int requests;  ///< With padding, up to 256.
  int query;     ///< Tokens of each request, a power of two up to 64.
};

int bk_prep_fused(const struct BkPrep* job, void* stream);

#ifdef __cplusplus
}
#endif
