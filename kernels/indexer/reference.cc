#include "indexer/reference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "common/number_formats.h"

namespace bk::kernels {

constexpr std::size_t kIndexDim = 128;
constexpr std::size_t kIndexPlain = 64;
constexpr std::size_t kIndexHeads = 64;

IndexQuery reference_index_query(std::span<const std::uint16_t> q, float weight, std::span<const float> cos_sin) {
  std::vector<double> value;
  for (const std::uint16_t bits : q) value.push_back(static_cast<double>(from_bf16(bits)));
  for (std::size_t i = 0; i < 32; ++i) {
    // In fp32, as the rounding to bf16 that follows would show another order of rounding.
    const auto a = static_cast<float>(value[kIndexPlain + 2 * i]);
    const auto b = static_cast<float>(value[kIndexPlain + 2 * i + 1]);
    const float c = cos_sin[i];
    const float s = cos_sin[32 + i];
    value[kIndexPlain + 2 * i] = static_cast<double>(from_bf16(to_bf16(std::fma(a, c, -(b * s)))));
    value[kIndexPlain + 2 * i + 1] = static_cast<double>(from_bf16(to_bf16(std::fma(b, c, a * s))));
  }
  double largest = 0;
  for (const double v : value) largest = std::max(largest, std::fabs(v));
  const double scale = std::exp2(std::ceil(std::log2(std::max(largest, 1e-4) / 448)));
  IndexQuery out;
  for (const double v : value) out.q8.push_back(to_e4m3(v / scale));
  out.weight = static_cast<double>(weight) * scale / std::sqrt(static_cast<double>(kIndexDim)) / std::sqrt(64.0);
  return out;
}

double reference_index_score(std::span<const std::uint8_t> q8, std::span<const float> weight,
                             std::span<const std::uint8_t> k8, float k_scale) {
  double score = 0;
  for (std::size_t h = 0; h < kIndexHeads; ++h) {
    double dot = 0;
    for (std::size_t i = 0; i < kIndexDim; ++i) dot += from_e4m3(q8[h * kIndexDim + i]) * from_e4m3(k8[i]);
    score += static_cast<double>(weight[h]) * std::max(0.0, dot);
  }
  return score * static_cast<double>(k_scale);
}

}  // namespace bk::kernels
