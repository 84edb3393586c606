#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace bk::sim {

/// Bytes that leave at one moment after the request was read.
struct ScriptLine {
  enum class Kind {
    kData,  ///< a piece of the body, framed as one chunk
    kRaw,   ///< bytes of the wire as they stand, head included
    kCut,   ///< the connection is closed here, without an end
  };
  Kind kind = Kind::kData;
  Nanos at = 0;
  std::string bytes;
  std::int32_t tokens = 0;  ///< what the truth says of it
};

/// A generated stream of chat chunks: event i leaves at first + phase + i * every.
struct ScriptStream {
  Nanos first = 0, every = 0;
  std::int64_t events = 0;
  std::vector<int> tokens_per_event = {1};  ///< taken in turn
  bool spread = false;                      ///< phases of concurrent streams spread evenly over `every`
  std::string text = " tok";                ///< one token's text
};

/// What one request, or every request of a path, is answered with.
struct ScriptGroup {
  std::string path;                     ///< empty: any generation endpoint
  std::optional<std::int64_t> request;  ///< only the n-th request of its path, from 0
  int status = 200;
  std::map<std::string, std::string> headers;
  std::vector<ScriptLine> lines;  ///< by time
  std::optional<ScriptStream> stream;
};

struct Script {
  std::vector<ScriptGroup> groups;
  /// The group for the index-th request of `path`: one that names the index first, then one for every request.
  [[nodiscard]] const ScriptGroup* find(std::string_view path, std::int64_t index) const;
};

/// Reads a script, one JSON object a line; blank lines and lines that begin with # are skipped. sim/README.md names the
/// members. kParse names the line.
[[nodiscard]] Result<Script> parse_script(std::string_view text);

/// The i-th phase of an endless sequence that fills [0, every) evenly whatever number of streams there are: the
/// bit-reversed counter (van der Corput).
[[nodiscard]] Nanos spread_phase(std::uint64_t stream, Nanos every);

}  // namespace bk::sim
