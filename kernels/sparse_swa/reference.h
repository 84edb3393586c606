#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bk::kernels {

struct SwaList {
  std::vector<std::int32_t> slots;  ///< Filled up with -1.
  int length;
};

/// Slots of tokens [begin, end) of a request with these blocks.
SwaList reference_swa_list(std::span<const std::int32_t> blocks, int begin, int end, int list_width);

/// The window of a decode token at `position`, and what a request's drafts share.
SwaList reference_swa_decode(std::span<const std::int32_t> blocks, int position);
SwaList reference_swa_draft(std::span<const std::int32_t> blocks, int prefix, int seq_len, int list_width);

/// Tokens to gather for a prefill of `queries` after `prefix`.
int swa_prefill_length(int queries, int prefix);

/// One token of a page: 576 bytes of data, 8 of scales.
struct SwaToken {
  std::vector<std::uint8_t> data, scales;
};
SwaToken reference_swa_token(std::span<const std::uint16_t> kv);

}  // namespace bk::kernels
