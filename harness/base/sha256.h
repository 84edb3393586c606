#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bk {

/// SHA-256 (FIPS 180-4) of bytes given in pieces.
class Sha256 {
 public:
  Sha256();
  void update(std::string_view bytes);
  /// 64 lower-case hex digits. The object is spent afterwards.
  [[nodiscard]] std::string hex();

 private:
  void block(const unsigned char* data);
  std::array<std::uint32_t, 8> state_;
  std::array<unsigned char, 64> buffer_{};
  std::size_t buffered_ = 0;
  std::uint64_t total_ = 0;
};

[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace bk
