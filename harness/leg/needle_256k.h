#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/endpoint.h"
#include "http/transport.h"
#include "leg/sink.h"

namespace bk::leg {

/// Retrieval near the window's end: one document with three planted facts (25, 50, 75 %), a question for each, and one
/// question that needs all three in one reply. A single needle is answered right after prefill, where what the engine
/// reuses is freshest; the long reply is not.
struct NeedlePlan {
  std::int64_t context_tokens = 256'000;      ///< prompt tokens of the longest single question's prompt
  std::uint64_t seed = 7;                     ///< of the document
  int max_tokens = 120;                       ///< of a single answer; the answer to all three has twice as many
  std::optional<std::int64_t> context_limit;  ///< what the server holds, prompt and answer; nothing: not known
  Nanos request_timeout = 1800 * kSecond;
  std::function<bool()> stopped;  ///< polled while requests run; empty: never
};

struct NeedleOutcome {
  GateResult gate;                            ///< what the sink got: four questions, the last for all three facts
  std::optional<std::int64_t> prompt_tokens;  ///< as the server counted the first answered one; nothing: none did
  std::vector<std::string> verdicts;          ///< "pass", "fail", "no_answer": three singles, then all three in one
  std::string note;                           ///< why nothing was asked, or empty
  int requests_failed = 0;                    ///< of gate.asked
};

/// "3/3 single + PASS multi", from the outcome's verdicts; "?" stands for a missing answer to the last.
[[nodiscard]] std::string needle_score(const std::vector<std::string>& verdicts);

/// Sizes the document by the server's /tokenize, else by the usage of short one-token requests; asks at temperature 0
/// with thinking off; hands the gate "needle-256k" to the sink and gives it. A context that the server cannot hold is
/// four questions without an answer. Errors: the sink's, kInterrupted when stopped.
[[nodiscard]] Result<NeedleOutcome> run_needle_256k(http::Transport& transport, const engine::Endpoint& endpoint,
                                                    const NeedlePlan& plan, Sink& sink);

}  // namespace bk::leg
