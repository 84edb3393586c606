#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bk::kernels {

struct MhcToken {
  std::vector<double> pre, post;  ///< [4]
  std::vector<double> comb;       ///< [4, 4]
  std::vector<double> layer_in;   ///< [h], without the rounding to bf16
};

/// One token of BkMhcPre in double: x is [4, h] bf16 bits, fn [24, 4 h]; an empty norm means none.
MhcToken reference_mhc_pre(std::span<const std::uint16_t> x, std::span<const float> fn, std::span<const float> scale,
                           std::span<const float> base, std::span<const std::uint16_t> norm);

/// One token of BkMhcPost in double: [4, h].
std::vector<double> reference_mhc_post(std::span<const std::uint16_t> x, std::span<const std::uint16_t> y,
                                       std::span<const float> post, std::span<const float> comb);

/// One token of BkMhcHead in double: [h], without the rounding to bf16.
std::vector<double> reference_mhc_head(std::span<const std::uint16_t> x, std::span<const float> fn, float scale,
                                       std::span<const float> base);

}  // namespace bk::kernels
