#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/endpoint.h"
#include "gate/korean.h"
#include "http/transport.h"
#include "leg/sink.h"

namespace bk::leg {

/// Damaged Korean text: eight fixed prompts or others, `rounds` times each, temperature 0, thinking as the server has
/// it.
struct KoreanPlan {
  /// Asked in turn.
  std::vector<std::string> prompts = {gate::korean_prompts().begin(), gate::korean_prompts().end()};
  int rounds = 2;
  int max_tokens = 400;
  int concurrency = 1;  ///< requests at a time
  Nanos request_timeout = 600 * kSecond;
  std::function<bool()> stopped;  ///< polled while requests run; empty: never
};

struct KoreanOutcome {
  GateResult gate;         ///< what the sink got; passed counts the clean responses
  gate::KoreanScan total;  ///< of all responses with text
  int dirty = 0;           ///< responses with a character of a gated mark
  int no_answer = 0;       ///< responses that say nothing of Korean text: failed, empty, without a Hangul syllable
  int requests_failed = 0;
};

/// Scans content and reasoning of each response; hands the gate "korean-corruption" to the sink and gives it with its
/// counts. Fails when a response is dirty; no answer when one is missing and none is dirty. With 16 responses chance
/// alone gives a hit in about one run of sixteen, so that one hit is not decisive. Errors: the sink's, kInterrupted.
[[nodiscard]] Result<KoreanOutcome> run_korean(http::Transport& transport, const engine::Endpoint& endpoint,
                                               const KoreanPlan& plan, Sink& sink);

/// Occurrences per million characters; nothing when no character was read.
[[nodiscard]] std::optional<double> per_million(std::int64_t count, std::int64_t characters);

}  // namespace bk::leg
