#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace bk::ledger {

/// "2026-11-29" of a wall stamp; "-" for 0.
[[nodiscard]] std::string date_of(Nanos wall);
/// An effect with its interval, or "- (reason)".
[[nodiscard]] std::string effect_text(const store::EffectRow& effect, bool points = false);
/// "better (clears_band)", "-" before any assessment.
[[nodiscard]] std::string assessment_text(const store::BracketSummary& summary);
/// "9/9", "-" without gates.
[[nodiscard]] std::string gates_text(const store::BracketSummary& summary);
/// "adopted", "unsigned".
[[nodiscard]] std::string verdict_text(const store::BracketSummary& summary);

/// One bracket whole, as Markdown from its ### heading on.
[[nodiscard]] Result<std::string> bracket_section(store::Database& database, const store::BracketSummary& summary,
                                                  const std::vector<store::NoteRow>& notes);

}  // namespace bk::ledger
