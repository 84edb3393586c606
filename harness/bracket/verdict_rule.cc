#include "bracket/verdict_rule.h"

#include <fmt/core.h>

namespace bk::bracket {

const std::vector<std::string>& verdict_words() {
  static const std::vector<std::string> kWords{"adopted", "rejected", "neutral", "invalid", "unavailable", "deferred"};
  return kWords;
}

std::string verdict_conflict(const std::string& word, const std::optional<std::string>& state, int gates_failed) {
  const bool judges = word == "adopted" || word == "rejected" || word == "neutral";
  if (!judges) return {};
  if (!state) return "the bracket has no assessment yet";
  if (*state == "void") return "the bracket is void";
  if (word == "adopted" && gates_failed > 0) return fmt::format("{} gates did not pass", gates_failed);
  const bool good = *state == "better" && gates_failed == 0;
  const bool against = (word == "adopted" && *state != "better") || (word == "rejected" && good) ||
                       (word == "neutral" && (*state == "better" || *state == "worse"));
  return against ? "the assessment says " + *state : std::string();
}

}  // namespace bk::bracket
