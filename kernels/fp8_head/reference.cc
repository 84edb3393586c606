#include "fp8_head/reference.h"

#include <algorithm>
#include <cmath>

#include "common/number_formats.h"

namespace bk::kernels {

QuantisedRow reference_quantise(std::span<const std::uint16_t> row) {
  float largest = 1e-6f;
  for (const std::uint16_t bits : row) {
    const float size = std::fabs(from_bf16(bits));
    if (std::isfinite(size)) largest = std::max(largest, size);
  }
  QuantisedRow out;
  out.scale = largest / 448.0f;
  for (const std::uint16_t bits : row) out.bytes.push_back(to_e4m3(static_cast<double>(from_bf16(bits) / out.scale)));
  return out;
}

double reference_head(std::span<const std::uint16_t> x, std::span<const std::uint8_t> w8, float scale) {
  double sum = 0;
  for (std::size_t i = 0; i < w8.size(); ++i) sum += static_cast<double>(from_bf16(x[i])) * from_e4m3(w8[i]);
  return sum * static_cast<double>(scale);
}

}  // namespace bk::kernels
