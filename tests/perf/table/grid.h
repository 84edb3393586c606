#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"

namespace bk::perf {

/// How far one program's figures are from the engine's own record, over all requests of one run.
struct GridRow {
  std::string program, knobs;
  std::size_t requests = 0;
  std::size_t missing = 0;  ///< requests whose figures the program would not give: all their events came at once
  double ttft_ms = 0;       ///< largest |TTFT - (first event sent - request received)|
  double rate_pct = 0;      ///< largest |rate / true rate - 1|
};

/// What the engine did for one request, as /sim/truth tells it.
struct TrueRequest {
  double ttft_ms = 0, decode_tok_s = 0, tokens = 0;
  Nanos received = 0, last = 0;
};
/// kMismatch for a request without two events.
[[nodiscard]] Result<TrueRequest> true_request(const Json& request);
/// Tokens of all requests / first received to last event.
[[nodiscard]] double true_aggregate(const std::vector<TrueRequest>& requests);

/// Runs bench-probe, bench-ctx, bench-dec and bench-conc of `bin` on sim-engine with 1 to 8 tokens an event, answers
/// that reason first and prompts that a cache answers, and compares.
[[nodiscard]] Result<std::vector<GridRow>> accuracy_grid(const std::filesystem::path& bin, bool quick,
                                                         const std::function<void(const std::string&)>& progress);

}  // namespace bk::perf
