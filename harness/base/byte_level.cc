#include "base/byte_level.h"

#include <array>

namespace bk {
namespace {

std::string utf8(int code) {
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F))};
}

std::array<std::string, 256> spellings() {
  std::array<std::string, 256> out;
  int next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    out[static_cast<std::size_t>(byte)] = utf8(printable ? byte : next++);
  }
  return out;
}

}  // namespace

std::string byte_level(std::string_view bytes) {
  static const auto spelling = spellings();
  std::string out;
  for (const char c : bytes) out += spelling[static_cast<unsigned char>(c)];
  return out;
}

}  // namespace bk
