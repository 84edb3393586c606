#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stream/record.h"

namespace bk::stream {

/// What one event says. Views live as long as the data that was read, and until the next call on the reader.
struct Chunk {
  enum class Kind {
    kChunk,    ///< a chat or completions chunk (or a whole answer that was not streamed)
    kDone,     ///< [DONE]
    kNothing,  ///< blank data
    kError,    ///< the server reports an error; its message in `error`
    kBroken,   ///< not JSON, or not an object; the reason in `error`
  };
  Kind kind = Kind::kNothing;
  std::string_view error;
  std::string_view content;        ///< delta.content, message.content or text, of the choice with index 0
  std::string_view reasoning;      ///< reasoning or reasoning_content; once when both hold the same
  std::string_view tool_calls;     ///< names and argument text of tool calls, as they come
  std::string_view finish_reason;  ///< empty: null or missing
  std::string_view model;
  std::int32_t token_ids = -1;  ///< number of generated token ids; -1: the server sends none
  bool has_choice = false;      ///< at least one choice
  bool bears_tokens = false;    ///< carries generated text of any kind, or token ids, of any choice
  bool bears_answer = false;    ///< carries content or completions text that is not empty
  std::optional<Usage> usage;   ///< nothing when missing or null
  std::optional<ServerTimings> timings;
};

/// Reads chunks of /v1/chat/completions and /v1/completions, members in any order. Allocates nothing once its buffers
/// have grown to the longest event. Not thread-safe; one reader serves any number of streams.
class ChunkReader {
 public:
  ChunkReader();
  ~ChunkReader();
  ChunkReader(ChunkReader&&) noexcept;
  ChunkReader& operator=(ChunkReader&&) noexcept;

  /// One event's data. `readable_after`: bytes that may be read behind it; with fewer than 64 the data is copied.
  const Chunk& read(std::string_view data, std::size_t readable_after = 0);

  /// The message in an error payload: the text itself, or of a JSON object its `error` (text, or an object with a
  /// `message`), `message` or `detail`. One line, cut at 500 bytes; never empty.
  [[nodiscard]] std::string error_message(std::string_view payload);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bk::stream
