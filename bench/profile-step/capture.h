#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "engine/endpoint.h"
#include "http/transport.h"

namespace bk::profile_step {

/// What is traced: a prompt's prefill, or the decoding of a number of tokens.
struct Work {
  bool prefill = false;
  std::int64_t tokens = 0;  ///< of the prompt (prefill), or to be generated
  std::uint64_t seed = 0;
};
/// "prefill", "prefill:32000", "32000" (prefill), "decode:64". kUsage otherwise.
[[nodiscard]] Result<Work> parse_work(const std::string& text);

/// What the traced request did.
struct Traced {
  std::int64_t prompt_tokens = 0, completion_tokens = 0;
  std::optional<double> drafts;  ///< delta of the engine's draft counter
  std::int64_t steps = 0;
  std::string steps_basis;  ///< "prompt / batched tokens", "drafts", "completion tokens"
};

/// POSTs /start_profile, sends one request, POSTs /stop_profile whatever came of it. kUnavailable when the server has
/// no profiler routes. `batched_tokens`: prompt tokens that the engine prefills in one step.
[[nodiscard]] Result<Traced> trace_request(http::Transport& transport, const engine::Endpoint& endpoint,
                                           const Work& work, std::int64_t batched_tokens);

/// Files of a folder, by size and time of last change; a trace is what is new or changed against an earlier look.
class TraceFolder {
 public:
  /// Looks at the folder. kIo when it cannot be read.
  static Result<TraceFolder> look(const std::string& path);
  /// Waits until a new *.json or *.json.gz file that holds GPU kernels has kept its size for `settle`. kTimeout, naming
  /// the folder, after `limit`.
  [[nodiscard]] Result<std::string> wait_for_trace(Nanos settle, Nanos limit, Clock& clock) const;

 private:
  struct Entry {
    std::string path;
    std::uintmax_t size = 0;
    std::int64_t changed = 0;
    bool operator==(const Entry&) const = default;
  };
  [[nodiscard]] Result<std::vector<Entry>> entries() const;
  [[nodiscard]] Result<std::vector<Entry>> fresh() const;

  std::string path_;
  std::vector<Entry> seen_;
};

}  // namespace bk::profile_step
