#pragma once

#include <cstdint>

namespace bk::kernels {

/// bf16 bits of a float, rounded to nearest, ties to even; NaN stays NaN.
std::uint16_t to_bf16(float value);
float from_bf16(std::uint16_t bits);

/// E4M3 (no infinities, 0x7f and 0xff are NaN) of a number, rounded to nearest, ties to even, saturated at 448. NaN
/// gives 0.
std::uint8_t to_e4m3(double value);
/// The number that an E4M3 byte stands for; NaN bytes give NaN.
double from_e4m3(std::uint8_t bits);

}  // namespace bk::kernels
