#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace bk::trace {

/// Groups of four numbers in as few bytes as they need, and one more for their sizes: a size is known before its number
/// is read, so that neither putting nor taking branches on it.
class PackedBlock {
 public:
  using Four = std::array<std::uint64_t, 4>;

  void put(const Four& four) {
    unsigned char* const head = bytes_.get() + size_;
    unsigned char* at = head + 1;
    unsigned sizes = 0;
    for (std::size_t i = 0; i < four.size(); ++i) {
      const unsigned code = code_of(four[i]);
      const std::uint64_t word = as_stored(four[i]);
      std::memcpy(at, &word, sizeof word);
      at += kSizes[code];
      sizes |= code << (2 * i);
    }
    *head = static_cast<unsigned char>(sizes);
    size_ = static_cast<std::size_t>(at - bytes_.get());
  }
  /// The group at `at`, which moves on to the next one.
  [[nodiscard]] Four take(std::size_t& at) const {
    Four four{};
    const unsigned sizes = bytes_[at++];
    for (std::size_t i = 0; i < four.size(); ++i) {
      const unsigned code = (sizes >> (2 * i)) & 3U;
      std::uint64_t word = 0;
      std::memcpy(&word, bytes_.get() + at, sizeof word);
      four[i] = as_stored(word) & kMasks[code];
      at += kSizes[code];
    }
    return four;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool full() const { return size_ + kLongestGroup > kBytes; }

 private:
  static constexpr std::size_t kBytes = std::size_t{64} * 1024;
  static constexpr std::size_t kLongestGroup = 1 + 4 * sizeof(std::uint64_t);
  static constexpr std::array<unsigned char, 4> kSizes = {1, 2, 3, 8};
  static constexpr std::array<std::uint64_t, 4> kMasks = {0xff, 0xffff, 0xffffff, UINT64_MAX};

  static unsigned code_of(std::uint64_t value) {
    return static_cast<unsigned>(value > 0xff) + static_cast<unsigned>(value > 0xffff) +
           static_cast<unsigned>(value > 0xffffff);
  }
  /// The lowest byte first.
  static std::uint64_t as_stored(std::uint64_t value) {
    return std::endian::native == std::endian::little ? value : __builtin_bswap64(value);
  }

  /// A number may be written and read as a whole word: the last one ends before these bytes.
  std::unique_ptr<unsigned char[]> bytes_ =
      std::make_unique_for_overwrite<unsigned char[]>(kBytes + sizeof(std::uint64_t));
  std::size_t size_ = 0;
};

}  // namespace bk::trace
