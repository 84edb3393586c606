#pragma once
#include <optional>
#include <string>
#include <vector>

namespace bk::bracket {

/// The words that a person may sign with: adopted, rejected, neutral, invalid, unavailable, deferred.
[[nodiscard]] const std::vector<std::string>& verdict_words();

/// Why a verdict goes against what was measured, so that it needs --override; empty when it does not.
/// adopted wants "better" and every gate passed; rejected contradicts "better" with every gate passed; neutral
/// contradicts "better" and "worse". invalid, unavailable and deferred say nothing about the effect.
/// @param state  of the newest assessment; nothing: there is none.
[[nodiscard]] std::string verdict_conflict(const std::string& word, const std::optional<std::string>& state,
                                           int gates_failed);

}  // namespace bk::bracket
