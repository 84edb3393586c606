#pragma once
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

namespace bk::trace {

/// Bytes in memory: `size` of them from `begin` on, with room after them that may be read.
struct Block {
  static constexpr std::size_t kRoomAfter = 128;
  std::vector<char> memory;
  std::size_t begin = 0;
  std::size_t size = 0;

  [[nodiscard]] std::string_view bytes() const { return {memory.data() + begin, size}; }
  /// Blanks, which no reader takes for a part of the bytes.
  void blank_room() { std::memset(memory.data() + begin + size, ' ', kRoomAfter); }
};

}  // namespace bk::trace
