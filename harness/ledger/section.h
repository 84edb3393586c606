#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace bk::ledger {

/// "2026-11-29" of a wall stamp; "-" for 0.
[[nodiscard]] std::string date_of(Nanos wall);
/// An effect with its interval, or "- (reason)": as it stands, not escaped.
[[nodiscard]] std::string plain_effect_text(const store::EffectRow& effect, bool points = false);
/// The change that an imported row recorded, when it is a number.
[[nodiscard]] std::optional<double> recorded_change_pct(const store::BracketRow& bracket);
/// The raw effect of the newest assessment; of an imported row the change that it recorded, and labelled so. Not
/// escaped.
[[nodiscard]] std::string measured_effect_text(const store::BracketSummary& summary);
/// "better (clears_band)", "-" before any assessment.
[[nodiscard]] std::string assessment_text(const store::BracketSummary& summary);
/// "signed when it was assessed better, which is inconclusive now"; empty where the assessment stands as signed.
[[nodiscard]] std::string outdated_text(const store::BracketSummary& summary);
/// "9/9", "-" without gates.
[[nodiscard]] std::string gates_text(const store::BracketSummary& summary);
/// Boots that were only measured, to be history: there is nothing to assess or to sign.
[[nodiscard]] bool is_baseline(const store::BracketRow& bracket);
/// "adopted", "unsigned".
[[nodiscard]] std::string verdict_text(const store::BracketSummary& summary);

/// What a bracket's section is made of.
struct BracketDetail {
  store::BracketSummary summary;
  std::vector<store::BootRow> boots;
  std::vector<store::BootFigure> figures;
  std::vector<std::pair<store::RowId, store::GateRow>> gates;
  store::ProofTally proofs;
  std::vector<store::AssessmentRow> replaced;  ///< assessments before the newest one, oldest first
};
/// Replaced assessments by bracket.
using Replaced = std::map<store::RowId, std::vector<store::AssessmentRow>>;
[[nodiscard]] Result<Replaced> load_replaced(store::Database& database);
[[nodiscard]] Result<BracketDetail> load_detail(store::Database& database, store::BracketSummary summary,
                                                const Replaced& replaced);

/// One bracket whole, as Markdown from its ### heading on; of `notes` those about it.
[[nodiscard]] std::string bracket_section(const BracketDetail& detail, const std::vector<store::NoteRow>& notes);

}  // namespace bk::ledger
