#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/endpoint.h"
#include "http/transport.h"
#include "leg/sink.h"

namespace bk::leg {

using GreedyText = std::map<std::string, std::string>;  ///< prompt -> text, of one boot

/// Twelve prompts, English and Korean, for long running text.
[[nodiscard]] const std::vector<std::string>& greedy_prompts();

struct GreedyPlan {
  std::vector<std::string> prompts = greedy_prompts();
  int max_tokens = 200;
  Nanos request_timeout = 600 * kSecond;
  std::function<bool()> stopped;  ///< polled while requests run; empty: never
};

/// What one boot wrote at temperature 0, prompt by prompt in the plan's order.
struct GreedyRun {
  std::vector<std::string> prompts;
  std::vector<stream::RequestRecord> records;

  /// The texts of the requests that were answered.
  [[nodiscard]] GreedyText texts() const;
};

/// Asks every prompt with thinking off, one at a time. A failed request is a record; kInterrupted when stopped.
[[nodiscard]] Result<GreedyRun> ask_greedy(http::Transport& transport, const engine::Endpoint& endpoint,
                                           const GreedyPlan& plan, Sink& sink);

/// Reasoning and content, as one text.
[[nodiscard]] std::string greedy_text(const stream::RequestRecord& record);

inline constexpr const char* kGreedyTexts = "greedy-texts";
/// A boot's texts kept for a comparison that other boots still lack: the gate "greedy-texts", which passes when every
/// prompt was answered and says nothing else.
[[nodiscard]] GateResult keep_greedy(const GreedyRun& run);

inline constexpr const char* kGreedyDivergence = "greedy-divergence";
inline constexpr std::size_t kGreedyYardstick = 2;  ///< earlier boots, whose divergence is the natural one

/// One boot's texts held against those of earlier boots of the same configuration: the gate "greedy-divergence", whose
/// verdict is gate::judge_divergence()'s. No answer when fewer than two boots came before, or when a request failed.
[[nodiscard]] GateResult judge_greedy(const GreedyRun& run, const std::vector<GreedyText>& earlier);

}  // namespace bk::leg
