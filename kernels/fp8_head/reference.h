#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bk::kernels {

struct QuantisedRow {
  std::vector<std::uint8_t> bytes;
  float scale = 0;
};

/// One row of bf16 bits by the rule of BkFp8Quantise, in the kernel's own fp32 steps: equal byte for byte.
QuantisedRow reference_quantise(std::span<const std::uint16_t> row);

/// One logit in double: the dot product of a row of x (bf16 bits) and a row of E4M3 bytes, times the row's scale.
double reference_head(std::span<const std::uint16_t> x, std::span<const std::uint8_t> w8, float scale);

}  // namespace bk::kernels
