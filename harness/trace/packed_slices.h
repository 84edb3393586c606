#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace bk::trace {

/// One event of a recording.
struct Slice {
  std::int64_t ts_ns = 0;
  std::int64_t dur_ns = 0;
  std::uint32_t name = 0;    ///< index into names()
  std::uint32_t stream = 0;  ///< index into streams()
  [[nodiscard]] std::int64_t end_ns() const { return ts_ns + dur_ns; }
};

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

/// Events in about eight bytes each, in the order in which they were appended.
class PackedSlices {
 public:
  void append(const Slice& slice) {
    if (blocks_.empty() || blocks_.back()->full()) blocks_.push_back(std::make_unique<PackedBlock>());
    blocks_.back()->put(
        {zigzag(slice.ts_ns - last_ts_), static_cast<std::uint64_t>(slice.dur_ns), slice.name, slice.stream});
    last_ts_ = slice.ts_ns;
    ++size_;
  }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  template <class Visit>
  void for_each(Visit visit) const {
    Slice slice;
    for (const auto& block : blocks_) {
      for (std::size_t at = 0; at != block->size();) {
        const PackedBlock::Four four = block->take(at);
        slice.ts_ns += unzigzag(four[0]);
        slice.dur_ns = static_cast<std::int64_t>(four[1]);
        slice.name = static_cast<std::uint32_t>(four[2]);
        slice.stream = static_cast<std::uint32_t>(four[3]);
        visit(std::as_const(slice));
      }
    }
  }

 private:
  static std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
  }
  static std::int64_t unzigzag(std::uint64_t value) {
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }

  std::vector<std::unique_ptr<PackedBlock>> blocks_;
  std::int64_t last_ts_ = 0;
  std::uint64_t size_ = 0;
};

}  // namespace bk::trace
