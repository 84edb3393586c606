#include "http/chunks.h"

#include <algorithm>

namespace bk::http {
namespace {

constexpr std::uint64_t kLargestChunk = std::uint64_t{1} << 60;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Chunks::Piece Chunks::next(std::string_view bytes) {
  Piece piece;
  while (piece.consumed < bytes.size() && state_ != State::kEnded && state_ != State::kBroken) {
    if (state_ == State::kData) {
      const std::size_t size = std::min<std::uint64_t>(left_, bytes.size() - piece.consumed);
      piece.data = bytes.substr(piece.consumed, size);
      piece.consumed += size;
      left_ -= size;
      if (left_ > 0) return piece;
      state_ = State::kDataEnd;
      continue;
    }
    const bool ends_chunk = state_ == State::kDataEnd && bytes[piece.consumed] == '\n';
    take_framing(bytes[piece.consumed++]);
    if (ends_chunk) return piece;
  }
  return piece;
}

// A line may end with a bare line feed, as some servers write it.
void Chunks::take_framing(char c) {
  switch (state_) {
    case State::kSize:
      take_size_digit(c);
      break;
    case State::kExtension:
      if (c == '\n') state_ = left_ == 0 ? State::kTrailer : State::kData;
      break;
    case State::kDataEnd:
      if (c == '\n') state_ = State::kSize;
      if (c != '\n' && c != '\r') state_ = State::kBroken;
      has_digit_ = false;
      break;
    case State::kTrailer:
      if (c == '\n') state_ = State::kEnded;
      if (c != '\n' && c != '\r') state_ = State::kTrailerLine;
      break;
    case State::kTrailerLine:
      if (c == '\n') state_ = State::kTrailer;
      break;
    default:
      break;
  }
}

void Chunks::take_size_digit(char c) {
  const int digit = hex_digit(c);
  if (digit >= 0) {
    left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
    has_digit_ = true;
    if (left_ > kLargestChunk) state_ = State::kBroken;
    return;
  }
  const bool ends_number = c == '\n' || c == '\r' || c == ';' || c == ' ' || c == '\t';
  if (!has_digit_ || !ends_number) {
    state_ = State::kBroken;
    return;
  }
  state_ = State::kExtension;
  if (c == '\n') take_framing(c);
}

}  // namespace bk::http
