#pragma once
#include <cstdint>
#include <cstring>

namespace bk::trace {

/// Eight characters, less '0' each.
inline std::uint64_t digit_values(const char* text) {
  std::uint64_t word = 0;
  std::memcpy(&word, text, sizeof word);
  return word ^ 0x3030303030303030U;
}

/// The high bit of a byte is set where it is no digit; a carry can only wrong bytes after the first such one.
inline std::uint64_t no_digits(std::uint64_t values) {
  return ((values + 0x7676767676767676U) | values) & 0x8080808080808080U;
}

}  // namespace bk::trace
