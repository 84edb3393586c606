#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "engine/endpoint.h"
#include "http/transport.h"
#include "leg/sink.h"

namespace bk::leg {

/// Retrieval at depth: for each context, one document with three planted facts (25, 50, 75 %) and one question a fact.
struct QualityPlan {
  std::vector<std::int64_t> contexts = {2048};  ///< prompt tokens of the longest question's prompt
  std::uint64_t seed = 7;                       ///< a document's seed is seed + context
  int max_tokens = 120;
  std::optional<std::int64_t> context_limit;  ///< what the server holds, prompt and answer; nothing: not known
  Nanos request_timeout = 1800 * kSecond;
  std::function<bool()> stopped;  ///< polled while requests run; empty: never
};

/// How one context went.
struct QualityRow {
  std::int64_t context_tokens = 0;
  std::optional<std::int64_t> prompt_tokens;  ///< as the server counted the first answered one; nothing: none did
  std::vector<std::string> verdicts;          ///< "pass", "fail", "no_answer", in document order
  std::string note;                           ///< why the row was not asked, or empty
};

struct QualityOutcome {
  GateResult gate;  ///< what the sink got
  std::vector<QualityRow> rows;
  int requests_failed = 0;  ///< of gate.asked
};

/// Sizes each document by the server's /tokenize, else by the usage of short one-token requests; asks; scores; hands
/// the gate "check-quality" to the sink and gives it with its rows. Temperature 0, thinking off. Errors: the sink's,
/// kInterrupted when stopped. A failed request is a question without an answer, never an error.
[[nodiscard]] Result<QualityOutcome> run_quality(http::Transport& transport, const engine::Endpoint& endpoint,
                                                 const QualityPlan& plan, Sink& sink);

}  // namespace bk::leg
