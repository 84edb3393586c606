#include "trace/number.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "trace/digits.h"

namespace bk::trace {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Past the digits at `at`. Eight bytes at a time: the bytes after a piece may be read.
std::size_t digits(const char* text, std::size_t at, std::size_t end) {
  if constexpr (std::endian::native == std::endian::little) {
    while (at < end) {
      const std::uint64_t others = no_digits(digit_values(text + at));
      if (others != 0) return std::min(end, at + static_cast<std::size_t>(std::countr_zero(others)) / 8);
      at += sizeof others;
    }
    return end;
  }
  while (at < end && is_digit(text[at])) ++at;
  return at;
}

}  // namespace

std::size_t any_number_end(const char* text, std::size_t at, std::size_t end) {
  const std::size_t start = at;
  if (text[at] == '-') ++at;
  const std::size_t whole = at;
  at = digits(text, at, end);
  if (at == whole || (text[whole] == '0' && at > whole + 1)) return start;
  if (at < end && text[at] == '.') {
    const std::size_t fraction = at + 1;
    at = digits(text, fraction, end);
    if (at == fraction) return start;
  }
  if (at < end && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < end && (text[at] == '+' || text[at] == '-')) ++at;
    const std::size_t exponent = at;
    at = digits(text, exponent, end);
    if (at == exponent) return start;
  }
  return at;
}

}  // namespace bk::trace
