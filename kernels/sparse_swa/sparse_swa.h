#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  BK_SWA_WINDOW = 128,
  BK_SWA_BLOCK = 64,          ///< Tokens of a page.
  BK_SWA_DIM = 512,           ///< 448 that become E4M3, then 64 that stay bf16.
  BK_SWA_PAGE_BYTES = 37440,  ///< 64 x 576 bytes of data, 64 x 8 of scales, up to a multiple of 576.
};

/// The window of each decode token at position p of its request: slots of max(p - 127, 0) ... p, then -1.
struct BkSwaDecode {
  const int64_t* positions;    ///< [t]
  const int32_t* token_rows;   ///< [t]: the token's row of block_table; -1: no token
  const int32_t* block_table;  ///< [requests, width]
  int32_t* slots;              ///< [t, 128]
  int32_t* lengths;            ///< [t]
  int t;
  int width;
};

/// The list that all draft tokens of a request share: slots of max(prefix - 128, 0) ... seq_len - 1, then -1.
struct BkSwaDraft {
  const int32_t* prefix;       ///< [requests], tokens before the drafted block
  const int32_t* seq_lens;     ///< [requests], with the block; 0: no request
  const int32_t* block_table;  ///< [requests, width]
  int32_t* slots;              ///< [requests, list_width]
  int32_t* lengths;            ///< [requests]
  int requests;
  int width;
  int list_width;  ///< bk_swa_draft_width()
};

/// The lists of tokens [first, first + t) of a batch, whose positions follow from where its requests begin: token i of
/// request r stands at position seq_lens[r] - (query_start[r + 1] - query_start[r]) + i - query_start[r]. With `causal`
/// it sees the window that ends there; without, every token of a request sees the 128 before the request's new tokens
/// and all of those. A token that is not valid has the length 0.
struct BkSwaWindows {
  const int32_t* query_start;  ///< [requests + 1]
  const int32_t* seq_lens;     ///< [requests], with the new tokens
  const int32_t* token_rows;   ///< [first + t]: the token's request
  const uint8_t* valid;        ///< [first + t], 0 or 1
  const int32_t* block_table;  ///< [requests, width], rows table_stride apart
  int32_t* slots;              ///< [t, list_width], rows slots_stride apart: slots, then -1
  int32_t* lengths;            ///< [t]
  int64_t table_stride;
  int64_t slots_stride;
  int first;
  int t;
  int width;
  int list_width;  ///< At least 128; a list that does not fit is cut.
  int causal;
};

/// Writes tokens into KV pages: 448 E4M3 bytes and 64 bf16 at token * 576, 8 bytes of scale exponents (7 and a 0) at
/// 64 * 576 + token * 8. A scale is 2^ceil(log2(max(largest, 1e-4) / 448)) per 64 numbers, stored as exponent + 127.
/// Slot -1 is skipped.
struct BkSwaPack {
  const void* kv;        ///< [t, 512] bf16, contiguous, 16-byte aligned
  const int64_t* slots;  ///< [t]: page * 64 + place
  void* pages;           ///< [pages, 37440] bytes, 16-byte aligned
  int64_t page_count;    ///< Slots beyond are skipped too.
  int t;
};

/// The smallest of 128, 512, 1024 that holds the window and `drafts` more; 0 when none does.
int bk_swa_draft_width(int drafts);

/// One launch each, no allocation, no synchronisation, bitwise repeatable.
int bk_swa_decode(const struct BkSwaDecode* job, void* stream);
int bk_swa_draft(const struct BkSwaDraft* job, void* stream);
int bk_swa_windows(const struct BkSwaWindows* job, void* stream);
int bk_swa_pack(const struct BkSwaPack* job, void* stream);

#ifdef __cplusplus
}
#endif
