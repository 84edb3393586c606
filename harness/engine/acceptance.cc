#include "engine/acceptance.h"

#include <utility>

namespace bk::engine {
namespace {

std::string broken_reason(const Continuity& continuity) {
  if (continuity.restarted) return "engine_restarted";
  if (!continuity.resets.empty()) return "counter_reset";
  return continuity.vanished ? "counter_missing" : "";
}

double position_delta(const Counters& before, const Counters& after, int position) {
  const auto value = [position](const Counters& counters) {
    const auto it = counters.accepted_per_position.find(position);
    return it == counters.accepted_per_position.end() ? 0.0 : it->second;  // series appear with the first draft
  };
  return value(after) - value(before);
}

std::vector<double> per_position(const Counters& before, const Counters& after, double drafts) {
  std::vector<double> rates;
  if (after.accepted_per_position.empty()) return rates;
  const int last = after.accepted_per_position.rbegin()->first;
  for (int position = 0; position <= last; ++position) {
    rates.push_back(position_delta(before, after, position) / drafts);
  }
  return rates;
}

AcceptanceDelta none(std::string reason, std::vector<std::string> resets = {}) {
  return {std::nullopt, std::move(reason), std::move(resets)};
}

}  // namespace

Continuity continuity_between(const Counters& before, const Counters& after) {
  Continuity result;
  result.restarted =
      before.process_start_s && after.process_start_s && *before.process_start_s != *after.process_start_s;
  for (const auto& [name, value] : before.series) {
    const auto it = after.series.find(name);
    if (it == after.series.end()) {
      result.vanished = true;
    } else if (it->second < value) {
      result.resets.push_back(name);
    }
  }
  for (const auto& [name, stamp] : before.created) {
    const auto it = after.created.find(name);
    if (it == after.created.end() || it->second == stamp) continue;
    result.restarted = true;
    result.resets.push_back(name);
  }
  return result;
}

stream::Figure delta_between(const std::optional<double>& before, const std::optional<double>& after,
                             const Continuity& continuity) {
  if (!before || !after) return stream::Figure::none("counter_missing");
  if (!continuity.unbroken()) return stream::Figure::none(broken_reason(continuity));
  return stream::Figure::of(*after - *before);
}

AcceptanceDelta acceptance_between(const std::optional<Counters>& before, const std::optional<Counters>& after) {
  if (!before || !after) return none("metrics_unavailable");
  const Continuity continuity = continuity_between(*before, *after);
  if (!continuity.unbroken()) return none(broken_reason(continuity), continuity.resets);
  const auto drafts = delta_between(before->drafts, after->drafts, continuity);
  const auto draft_tokens = delta_between(before->draft_tokens, after->draft_tokens, continuity);
  const auto accepted = delta_between(before->accepted_tokens, after->accepted_tokens, continuity);
  if (!drafts.value || !draft_tokens.value || !accepted.value) return none("counter_missing");
  if (*drafts.value <= 0 || *draft_tokens.value <= 0) return none("no_drafts");
  if (*accepted.value > *draft_tokens.value) return none("counters_disagree");

  Acceptance acceptance;
  acceptance.drafts = *drafts.value;
  acceptance.draft_tokens = *draft_tokens.value;
  acceptance.accepted = *accepted.value;
  acceptance.raw = acceptance.accepted / acceptance.draft_tokens;
  acceptance.k_eff = acceptance.draft_tokens / acceptance.drafts;
  acceptance.legacy = acceptance.raw * 2 * acceptance.k_eff / (acceptance.k_eff + 1);
  acceptance.tokens_per_step = 1 + acceptance.accepted / acceptance.drafts;
  acceptance.per_position = per_position(*before, *after, acceptance.drafts);
  return {acceptance, {}, {}};
}

IntervalRates rates_between(const Counters& before, const Counters& after) {
  using Slot = std::optional<double> Counters::*;
  const Continuity continuity = continuity_between(before, after);
  const auto rate = [&](Slot tokens, Slot seconds) {
    auto spent = delta_between(before.*seconds, after.*seconds, continuity);
    auto made = delta_between(before.*tokens, after.*tokens, continuity);
    if (!spent.value) return spent;
    if (!made.value) return made;
    if (*spent.value <= 0) return stream::Figure::none("zero_window");
    return stream::Figure::of(*made.value / *spent.value);
  };
  return {rate(&Counters::generation_tokens, &Counters::generation_s),
          rate(&Counters::prompt_tokens, &Counters::prompt_s)};
}

}  // namespace bk::engine
