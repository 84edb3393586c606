#include "leg/decode.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/body.h"
#include "leg/round.h"
#include "load/prompts.h"

namespace bk::leg {
namespace {

// The seed rule of the historical tool: repetition r at concurrency C has seed r + 1000 C, its request i seed * 131 +
// i.
std::uint64_t prompt_seed(const DecodePlan& plan, int concurrency, int rep, int request) {
  const auto seed = static_cast<std::uint64_t>(rep) + 1000 * static_cast<std::uint64_t>(concurrency);
  return plan.seed + seed * 131 + static_cast<std::uint64_t>(request);
}

/// One cell: a concurrency, and what is generated.
struct Cell {
  int concurrency = 1;
  const load::ContentSet* content = nullptr;  ///< nullptr: the historical topics
  bool long_answer = true;

  [[nodiscard]] std::string name() const {
    if (content == nullptr) return fmt::format("C={}", concurrency);
    return fmt::format("C={} {} {}", concurrency, content->name, long_answer ? "long" : "short");
  }
};

bool has(const load::ContentSet& set, bool long_answer) {
  return std::any_of(set.prompts.begin(), set.prompts.end(),
                     [long_answer](const load::ContentPrompt& prompt) { return prompt.long_answer == long_answer; });
}

std::vector<Cell> cells_of(const DecodePlan& plan) {
  std::vector<Cell> cells;
  for (const int concurrency : plan.concurrency) {
    if (plan.content.empty()) cells.push_back({concurrency, nullptr, true});
    for (const load::ContentShare& share : plan.content) {
      for (const bool long_answer : {false, true}) {
        if (has(*share.set, long_answer)) cells.push_back({concurrency, share.set, long_answer});
      }
    }
  }
  return cells;
}

std::string prompt_of(const DecodePlan& plan, const Cell& cell, int rep, int request) {
  const std::uint64_t seed = prompt_seed(plan, cell.concurrency, rep, request);
  if (cell.content == nullptr) return load::decode_prompt(seed);
  return cell.content->prompt(cell.long_answer, static_cast<std::uint64_t>(rep) + static_cast<std::uint64_t>(request),
                              seed);
}

Round make_round(const engine::Endpoint& endpoint, const DecodePlan& plan, const Cell& cell, int rep) {
  Round round{"decode", cell.name(), cell.concurrency, rep, false, {}};
  round.step_window = plan.step_window;
  const int tokens = cell.long_answer ? plan.max_tokens : std::min(plan.max_tokens, load::kShortAnswerTokens);
  for (int i = 0; i < cell.concurrency; ++i) {
    engine::Generation generation;
    generation.prompt = prompt_of(plan, cell, rep, i);
    generation.max_tokens = tokens;
    generation.temperature = plan.temperature;
    generation.ignore_eos = plan.ignore_eos;
    generation.thinking_off = true;
    load::PlannedRequest request{engine::make_request(endpoint, generation, {.total = plan.request_timeout}), 0, {}};
    if (plan.ignore_eos) request.expected_tokens = tokens;
    round.requests.push_back(std::move(request));
  }
  return round;
}

}  // namespace

Status run_decode(http::Transport& transport, const engine::Endpoint& endpoint, const DecodePlan& plan, Sink& sink) {
  for (const Cell& cell : cells_of(plan)) {
    const int total = plan.warmup + plan.reps;
    for (int done = 0; done < total; ++done) {
      const bool warmup = done < plan.warmup;
      // Repetitions count from 1, as their seeds always have; warm-ups take numbers of their own.
      Round round = make_round(endpoint, plan, cell, warmup ? 500 + done : done - plan.warmup + 1);
      round.warmup = warmup;
      round.index = warmup ? done : done - plan.warmup;
      const std::string label = "decode " + round.cell;
      sink.progress(label, done, total);
      BK_ASSIGN(const load::Sample sample, run_round(transport, endpoint, std::move(round), plan.stopped));
      BK_TRY(sink.sample(sample));
      sink.progress(label, done + 1, total);
    }
  }
  return {};
}

}  // namespace bk::leg
