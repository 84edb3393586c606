#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include "trace/digits.h"

namespace bk::trace {

/// As number_end(), of any number.
[[nodiscard]] std::size_t any_number_end(const char* text, std::size_t at, std::size_t end);

/// Where the JSON number that starts at `at` ends, at most `end`; `at` itself when there is none. Fifteen bytes after
/// `end` may be read.
[[nodiscard]] inline std::size_t number_end(const char* text, std::size_t at, std::size_t end) {
  if constexpr (std::endian::native == std::endian::little) {
    // Up to 15 digits, a point and up to seven: what the writers of traces give.
    constexpr std::size_t kEight = 8;
    const auto digits = [](std::uint64_t others) {
      return static_cast<std::size_t>(std::countr_zero(others)) / kEight;
    };
    std::size_t to = at;
    std::uint64_t others = no_digits(digit_values(text + to));
    if (others == 0) others = no_digits(digit_values(text + (to += kEight)));
    to += digits(others);
    const bool leads_zero = text[at] == '0' && to > at + 1;
    if (others != 0 && to > at && to < end && !leads_zero) {
      if (text[to] == '.') {
        const std::uint64_t after = no_digits(digit_values(text + to + 1));
        if (after == 0 || digits(after) == 0) return any_number_end(text, at, end);
        to += 1 + digits(after);
      }
      if (to < end && text[to] != 'e' && text[to] != 'E') return to;
    }
  }
  return any_number_end(text, at, end);
}

}  // namespace bk::trace
