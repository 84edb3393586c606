#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace bk::sim {

/// Faults that a run injects into otherwise healthy serving.
struct Faults {
  bool role_only_first = false;     ///< the role chunk alone, before prefill
  bool empty_chunks = false;        ///< a content-free chunk after every event
  bool crlf = false;                ///< CRLF line ends in the event stream
  bool missing_usage = false;       ///< no usage, whatever was asked for
  bool empty_200 = false;           ///< 200 and an empty body
  bool dead_metrics = false;        ///< /metrics answers 503
  bool wrong_model = false;         ///< /v1/models names another model, and only that one is served
  std::optional<int> error_in_200;  ///< error event after that many events
  std::optional<int> cut;           ///< connection closed after that many events
  std::optional<int> stall_ms;      ///< one pause of that length in the middle of each stream
  std::optional<int> slow_headers_ms;
  std::optional<int> restart_after;           ///< after that many requests: counters from 0, a new process start time
  std::optional<int> die_after;               ///< after that many requests: an error event, then the process ends
  std::optional<int> reject_429, reject_503;  ///< that many generation requests refused with Retry-After: 1
  int engines = 1;                            ///< data-parallel ranks among which the counters are split
};

/// Reads "NAME" or "NAME=ARG" words. kUsage with a suggestion for an unknown name.
[[nodiscard]] Result<Faults> parse_faults(const std::vector<std::string>& words);

}  // namespace bk::sim
