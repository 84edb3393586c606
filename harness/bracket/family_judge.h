#pragma once
#include <string>
#include <vector>

#include "bracket/assess_bracket.h"
#include "bracket/earlier_boots.h"
#include "bracket/family_plan.h"
#include "stats/family.h"
#include "store/store.h"

namespace bk::bracket {

/// The rows of a stored family.
struct FamilyRows {
  store::BracketRow whole;
  std::vector<store::BracketRow> arms;  ///< variant v is arms[v - 1]
};

/// A family and its rows as the database holds them.
struct StoredFamily {
  Family family;
  FamilyRows rows;
};
/// As family_of().
[[nodiscard]] Result<StoredFamily> stored_family(store::Database& database, const store::BracketRow& whole);

/// A question with its answer.
struct FamilyAnswer {
  FamilyQuestion question;
  stats::Comparison comparison;
};

/// The assessment of an arm's comparison with the base.
struct StageRow {
  int variant = 0;
  store::AssessmentRow assessment;
};

/// What the end of a stage says.
struct StageJudgement {
  std::vector<FamilyAnswer> answers;  ///< interactions too
  std::vector<StageRow> rows;         ///< of the arms that the stage boots
};

/// The earlier boots that a stage is judged by: those that an assessment of the stage names, when there is one already
/// (a family that goes on after an interruption), else the newest there are.
[[nodiscard]] Result<BaseHistory> stage_history(EarlierBoots& earlier, store::Database& database, const Family& family,
                                                const FamilyRows& rows, int stage);

/// The questions of a stage whose arms are all in `live`, judged together by the family's model of the boots done
/// before the stage's end.
[[nodiscard]] Result<StageJudgement> judge_stage(store::Database& database, const Family& family,
                                                 const FamilyRows& rows, const BaseHistory& history,
                                                 const std::vector<int>& live, int stage);

/// The whole family's own assessment: of a sweep its peak, of a matrix the clearest interaction. Judgement::family is
/// {"answers": […], "peak": …}.
/// @param history  of the last stage.  @param answers  of every stage.
[[nodiscard]] Result<Judgement> judge_family(store::Database& database, const Family& family, const FamilyRows& rows,
                                             const BaseHistory& history, const std::vector<int>& live,
                                             const std::vector<FamilyAnswer>& answers);

/// The reason code of a combined arm that was not booted.
inline constexpr const char* kSingleNotPassed = "single_arm_not_passed";
/// Which of a combined arm's single ones did not pass (void, measured worse, or a gate that did not pass), a sentence;
/// empty when all did.
/// @param states  of the arms' brackets.  @param answers  of the single arms' stage.
[[nodiscard]] Result<std::string> why_not_booted(store::Database& database, const Family& family,
                                                 const FamilyRows& rows, const std::vector<std::string>& states,
                                                 const std::vector<FamilyAnswer>& answers, int variant);

/// The assessment of a family or comparison that may not be used.
[[nodiscard]] store::AssessmentRow void_row(const Plan& plan, store::RowId bracket, const std::string& reason,
                                            const std::string& sentence);

[[nodiscard]] Json to_json(const FamilyAnswer& answer, const Family& family);

}  // namespace bk::bracket
