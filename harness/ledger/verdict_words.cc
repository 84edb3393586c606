#include "ledger/verdict_words.h"

#include <algorithm>

namespace bk::ledger {

const std::vector<VerdictWord>& verdict_words() {
  static const std::vector<VerdictWord> kWords = {
      {"adopted", "adopted", "in use"},
      {"adopted-neutral", "adopted", "in use without a gain, for alignment"},
      {"default-selected", "adopted", "chosen as the default"},
      {"rejected", "rejected", "measured and refused"},
      {"rejected-gate", "rejected", "faster, but a gate failed"},
      {"fails-gate", "rejected", "a gate failed"},
      {"ceiling-rejected", "rejected", "its upper bound is too low to boot for"},
      {"operator-veto", "rejected", "refused by who runs the machines"},
      {"closed", "rejected", "nothing left to gain"},
      {"neutral", "neutral", "no effect that matters"},
      {"no-op", "neutral", "real alone, nothing in the whole"},
      {"safe-not-adopted", "neutral", "harmless, and not in use"},
      {"superseded", "neutral", "another setting took its place"},
      {"characterisation", "neutral", "a measurement that proposes nothing"},
      {"resolved", "neutral", "explained; nothing to decide"},
      {"invalid", "invalid", "the setting did not take effect, or the run was spoilt"},
      {"incident", "invalid", "something broke; no comparison"},
      {"unavailable", "unavailable", "the structure does not allow it"},
      {"blocked", "unavailable", "the engine fails with it"},
      {"deferred", "deferred", "decided later"},
      {"unresolved", "deferred", "below the resolution"},
      {"incomplete", "deferred", "boots are missing"},
      {"open", "deferred", "needs a bracket"},
      {"hold", "deferred", "waits for a gate that fails in every arm"},
      {"gate-pass", "deferred", "passed a stage; the end is not measured"},
  };
  return kWords;
}

std::optional<std::string> verdict_of(std::string_view original) {
  const auto& words = verdict_words();
  const auto it = std::find_if(words.begin(), words.end(), [&](const auto& word) { return original == word.original; });
  return it == words.end() ? std::nullopt : std::optional<std::string>(it->verdict);
}

}  // namespace bk::ledger
