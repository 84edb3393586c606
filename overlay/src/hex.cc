#include "hex.h"

namespace bk::overlay {

std::optional<std::string> from_hex(std::string_view digits) {
  const auto value = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  if (digits.size() % 2 != 0) return {};
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = value(digits[i]), low = value(digits[i + 1]);
    if (high < 0 || low < 0) return {};
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace bk::overlay
