#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

namespace bk::trace {

/// Where the tokens of a piece of JSON begin: braces, brackets, colons, commas, and the first bytes of strings and
/// scalars outside strings. Found 64 bytes at a time by the widest vectors that the running machine has.
class TokenIndex {
 public:
  enum class Fault { kNone, kUnclosedString, kBadBytes };
  /// Bytes after the piece that index() may read and that must be there.
  static constexpr std::size_t kPadding = 128;

  TokenIndex();
  ~TokenIndex();
  TokenIndex(const TokenIndex&) = delete;
  TokenIndex& operator=(const TokenIndex&) = delete;

  /// Indexes `size` bytes (less than 4 GiB), which begin outside any string. kBadBytes: a control character in a
  /// string, or bytes that are not UTF-8.
  Fault index(const char* bytes, std::size_t size);
  /// Offsets of the tokens, increasing; one further entry holds `size`.
  [[nodiscard]] const std::uint32_t* begin() const;
  [[nodiscard]] std::size_t count() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::size_t count_ = 0;
};

}  // namespace bk::trace
