#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"

namespace bk::trace {

/// Where bytes come from: a file, a pipe, a decompressor, or a test's memory. Used by one thread at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Puts up to `size` bytes at `into` and gives their number; 0 only at the end. kIo when reading fails, kParse when
  /// compressed bytes are damaged or cut (the text names the byte of the compressed file).
  virtual Result<std::size_t> read(char* into, std::size_t size) = 0;
  /// Whether reading waits for nobody: a file does not, a pipe waits for its writer.
  [[nodiscard]] virtual bool never_waits() const { return true; }
};

/// Bytes in memory, given out in pieces of at most `piece` bytes.
[[nodiscard]] std::unique_ptr<ByteSource> memory_source(std::string bytes, std::size_t piece = std::size_t(-1));

/// The bytes of `raw`, inflated when its first two bytes say gzip, whatever the file is called. Several gzip members
/// follow one another; each member's checksum and length are verified, a cut member is an error, zero bytes after the
/// last member are allowed. kUnavailable for Zstandard and ZIP files, which are not read.
[[nodiscard]] std::unique_ptr<ByteSource> decoded_source(std::unique_ptr<ByteSource> raw);

/// The trace at `path`, inflated where needed; "-" is standard input. kIo naming the path when it cannot be opened.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> open_source(const std::string& path);

}  // namespace bk::trace
