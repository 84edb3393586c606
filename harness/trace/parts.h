#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "trace/block.h"
#include "trace/source.h"

namespace bk::trace {

/// A stream cut into parts that can be read apart from one another: each but the first begins where an event seems to
/// start. Whether one does is seen when the part before it has been read.
class Parts {
 public:
  explicit Parts(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  /// The next part into `block`, whose memory is used again. False when what is left is to be read as one stream: the
  /// stream's end, a source that failed, bytes in which no event seems to start.
  bool next(Block& block);
  /// Offset in the stream of what next() gives next, or of what it has left.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  /// The bytes of `given`, and all that has not been given, as one stream.
  [[nodiscard]] std::unique_ptr<ByteSource> rest(std::vector<Block> given);

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<char> carried_;  ///< read already: the start of the next part
  std::uint64_t offset_ = 0;
  bool ended_ = false;
  Status failed_;
};

}  // namespace bk::trace
