#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "trace/block.h"
#include "trace/source.h"
#include "trace/token_index.h"
#include "trace/walker.h"

namespace bk::trace {

/// The bytes of a stream that are being read: about 256 KiB, more only when a single event is longer. Each piece
/// that it gives begins where the last one was left off, outside any string, and is indexed.
class Window {
 public:
  /// The source's first byte is the trace's byte `base`.
  Window(std::unique_ptr<ByteSource> source, std::uint64_t base);
  /// Reads nothing but the bytes of `part`, the first of which is the trace's byte `base`; the part and what was there
  /// before change places.
  void hold(Block& part, std::uint64_t base);
  /// The part, from its first byte on.
  [[nodiscard]] Block release();

  /// Drops the bytes before `keep_from` (offset in the piece), reads on, and indexes about `size` bytes. kParse, "byte
  /// N: why", when the bytes that follow cannot be JSON wherever they are cut; the source's errors.
  Result<Cursor> advance(std::size_t keep_from, std::size_t size);
  /// Repair: the same for the bytes from `from` up to where a next event seems to start, alone. A piece that cannot be
  /// indexed has no tokens.
  Result<Cursor> isolate(std::size_t from);
  /// Repair: offset in the window of the next place after `from` where an event seems to start: a `{` after a comma,
  /// before a member named ph, name, cat, pid, tid, ts or args. Reads on as needed; the bytes before `from` are dropped
  /// and `from` becomes 0. Nothing at the end.
  Result<bool> resync(std::size_t& from);

  /// The bytes that are there, from the piece's first one on.
  [[nodiscard]] std::string_view ahead() const { return block_.bytes(); }
  /// Offset in the trace of a byte of the piece.
  [[nodiscard]] std::uint64_t offset_of(std::size_t at) const { return base_ + at; }
  /// Bytes read so far, of the decoded stream.
  [[nodiscard]] std::uint64_t total() const { return base_ + block_.size; }

 private:
  void drop(std::size_t size);
  Status fill();
  TokenIndex::Fault index(std::size_t size);
  Cursor cursor_of(std::size_t size, bool final);
  Result<Cursor> index_piece(std::size_t size, bool final);
  [[nodiscard]] std::size_t newline_cut(std::size_t below) const;
  [[nodiscard]] std::size_t brace_cut(std::size_t below) const;
  [[nodiscard]] Error fault(std::size_t size) const;

  [[nodiscard]] const char* data() const { return block_.memory.data() + block_.begin; }
  [[nodiscard]] std::size_t room() const { return block_.memory.size() - Block::kRoomAfter; }

  std::unique_ptr<ByteSource> source_;
  Block block_;            ///< the bytes in the window
  std::size_t piece_ = 0;  ///< bytes in the piece that was given last
  std::uint64_t base_ = 0;
  bool ended_ = false;
  TokenIndex index_;
};

}  // namespace bk::trace
