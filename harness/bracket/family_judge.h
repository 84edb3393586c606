#pragma once
#include <string>
#include <vector>

#include "bracket/family_plan.h"
#include "stats/family.h"
#include "store/store.h"

namespace bk::bracket {

/// The rows of a stored family.
struct FamilyRows {
  store::BracketRow whole;
  std::vector<store::BracketRow> arms;  ///< variant v is arms[v - 1]
};

/// A question with its answer.
struct FamilyAnswer {
  FamilyQuestion question;
  stats::Comparison comparison;
};

/// Boots done before the stage's end of the arms in `live` and of the base, by their place in time.
[[nodiscard]] Result<std::vector<stats::BootValues>> family_values(store::Database& database, const Family& family,
                                                                   const FamilyRows& rows, const std::vector<int>& live,
                                                                   int stage);

/// The questions of a stage whose arms are all in `live`, judged together by the family's model.
/// @param values  family_values() of the stage.
[[nodiscard]] Result<std::vector<FamilyAnswer>> judge_stage(store::Database& database, const Family& family,
                                                            const FamilyRows& rows,
                                                            const std::vector<stats::BootValues>& values,
                                                            const std::vector<int>& live, int stage);

/// The whole family's own assessment: of a sweep its peak, of a matrix the clearest interaction.
struct FamilyJudgement {
  stats::Assessment assessment;
  Json detail;  ///< {"answers": […], "peak": …}, for detail_json
};
/// @param answers  of every stage.
[[nodiscard]] Result<FamilyJudgement> judge_family(store::Database& database, const Family& family,
                                                   const FamilyRows& rows, const std::vector<int>& live,
                                                   const std::vector<FamilyAnswer>& answers);

[[nodiscard]] Json to_json(const FamilyAnswer& answer, const Family& family);

}  // namespace bk::bracket
