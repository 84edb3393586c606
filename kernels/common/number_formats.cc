#include "common/number_formats.h"

#include <bit>
#include <cmath>
#include <limits>

namespace bk::kernels {

std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  const std::uint32_t odd = bits >> 16 & 1;
  return static_cast<std::uint16_t>((bits + 0x7fff + odd) >> 16);
}

float from_bf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

std::uint8_t to_e4m3(double value) {
  if (std::isnan(value)) return 0;
  const int sign = std::signbit(value) ? 0x80 : 0;
  const double size = std::fabs(value);
  if (size >= 448) return static_cast<std::uint8_t>(sign | 0x7e);
  constexpr int kSmallestExponent = -6;
  const int exponent = size > 0 ? std::max(std::ilogb(size), kSmallestExponent) : kSmallestExponent;
  // In units of the last place, so that the carry into the next binade comes out by itself.
  const auto units = static_cast<int>(std::nearbyint(std::ldexp(size, 3 - exponent)));
  const int code = (exponent - kSmallestExponent) * 8 + units;
  return static_cast<std::uint8_t>(sign | std::min(code, 0x7e));
}

double from_e4m3(std::uint8_t bits) {
  const int field = bits >> 3 & 15;
  const int mantissa = bits & 7;
  if (field == 15 && mantissa == 7) return std::numeric_limits<double>::quiet_NaN();
  const double size = field == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, field - 10);
  return (bits & 0x80) != 0 ? -size : size;
}

}  // namespace bk::kernels
