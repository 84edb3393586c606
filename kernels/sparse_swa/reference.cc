#include "sparse_swa/reference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "common/number_formats.h"
#include "sparse_swa/sparse_swa.h"

namespace bk::kernels {

constexpr std::size_t kQuantised = 448;
constexpr std::size_t kGroup = 64;

SwaList reference_swa_list(std::span<const std::int32_t> blocks, int begin, int end, int list_width) {
  SwaList out{std::vector<std::int32_t>(static_cast<std::size_t>(list_width), -1), end - begin};
  for (int token = begin; token < end; ++token)
    out.slots[token - begin] = blocks[token / BK_SWA_BLOCK] * BK_SWA_BLOCK + token % BK_SWA_BLOCK;
  return out;
}

SwaList reference_swa_decode(std::span<const std::int32_t> blocks, int position) {
  return reference_swa_list(blocks, std::max(position - (BK_SWA_WINDOW - 1), 0), position + 1, BK_SWA_WINDOW);
}

SwaList reference_swa_draft(std::span<const std::int32_t> blocks, int prefix, int seq_len, int list_width) {
  return reference_swa_list(blocks, std::max(prefix - BK_SWA_WINDOW, 0), seq_len, list_width);
}

int swa_prefill_length(int queries, int prefix) { return queries + std::min(prefix, BK_SWA_WINDOW - 1); }

SwaToken reference_swa_token(std::span<const std::uint16_t> kv) {
  SwaToken out;
  for (std::size_t group = 0; group < kQuantised / kGroup; ++group) {
    double largest = 0;
    for (std::size_t i = 0; i < kGroup; ++i)
      largest = std::max(largest, std::fabs(static_cast<double>(from_bf16(kv[group * kGroup + i]))));
    const auto exponent = static_cast<int>(std::ceil(std::log2(std::max(largest, 1e-4) / 448)));
    out.scales.push_back(static_cast<std::uint8_t>(exponent + 127));
    for (std::size_t i = 0; i < kGroup; ++i)
      out.data.push_back(to_e4m3(std::ldexp(static_cast<double>(from_bf16(kv[group * kGroup + i])), -exponent)));
  }
  out.scales.push_back(0);
  for (std::size_t i = kQuantised; i < kv.size(); ++i) {
    out.data.push_back(static_cast<std::uint8_t>(kv[i]));
    out.data.push_back(static_cast<std::uint8_t>(kv[i] >> 8));
  }
  return out;
}

}  // namespace bk::kernels
