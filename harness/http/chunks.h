#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bk::http {

/// Undoes the chunked transfer coding (RFC 9112, 7.1) of bytes as they come, however they are cut. Extensions and
/// trailers are passed over.
class Chunks {
 public:
  struct Piece {
    std::size_t consumed = 0;  ///< of the given bytes, framing included
    std::string_view data;     ///< of the body; may be empty
  };
  /// The next piece of `bytes`, which are not empty: at most to the end of one chunk with its framing. Takes nothing
  /// once ended() or broken().
  [[nodiscard]] Piece next(std::string_view bytes);
  /// The last chunk and its trailers were seen.
  [[nodiscard]] bool ended() const { return state_ == State::kEnded; }
  [[nodiscard]] bool broken() const { return state_ == State::kBroken; }
  /// The next byte begins a chunk.
  [[nodiscard]] bool between() const { return state_ == State::kSize && !has_digit_; }

 private:
  enum class State { kSize, kExtension, kData, kDataEnd, kTrailer, kTrailerLine, kEnded, kBroken };
  void take_framing(char c);
  void take_size_digit(char c);
  State state_ = State::kSize;
  bool has_digit_ = false;
  std::uint64_t left_ = 0;  // of the chunk
};

}  // namespace bk::http
