#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace bk::trace {

/// Bytes in memory that is handed over whole: `size` of them from `begin` on, with room before and after them.
struct Block {
  static constexpr std::size_t kRoomBefore = std::size_t{32} * 1024;
  static constexpr std::size_t kRoomAfter = 128;
  std::vector<char> memory;
  std::size_t begin = 0;
  std::size_t size = 0;
};

/// Where bytes come from: a file, a pipe, a decompressor, or a test's memory. Used by one thread at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Puts up to `size` bytes at `into` and gives their number; 0 only at the end. kIo when reading fails, kParse when
  /// compressed bytes are damaged or cut (the text names the byte of the compressed file).
  virtual Result<std::size_t> read(char* into, std::size_t size) = 0;
  /// Whether it has its bytes in blocks anyhow: exchange() spares the copy that read() makes.
  [[nodiscard]] virtual bool has_blocks() const { return false; }
  /// Gives the next bytes for the memory of a block that is no longer needed; none at the end. Errors as read().
  virtual Status exchange(Block& block);
};

/// Bytes in memory, given out in pieces of at most `piece` bytes.
[[nodiscard]] std::unique_ptr<ByteSource> memory_source(std::string bytes, std::size_t piece = std::size_t(-1));

/// The bytes of `raw`, inflated when its first two bytes say gzip, whatever the file is called. Several gzip members
/// follow one another; each member's checksum and length are verified, a cut member is an error, zero bytes after the
/// last member are allowed. kUnavailable for Zstandard and ZIP files, which are not read.
[[nodiscard]] std::unique_ptr<ByteSource> decoded_source(std::unique_ptr<ByteSource> raw);

/// The trace at `path`, inflated where needed; "-" is standard input. Inflating a file runs in a thread of its own.
/// kIo naming the path when it cannot be opened.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> open_source(const std::string& path);

/// What `inner` gives, read ahead by a thread into blocks, 2 MiB in all. Destroying it waits for the read in progress.
[[nodiscard]] std::unique_ptr<ByteSource> prefetched_source(std::unique_ptr<ByteSource> inner);

}  // namespace bk::trace
