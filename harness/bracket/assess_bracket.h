#pragma once
#include <vector>

#include "bracket/plan.h"
#include "stats/assess.h"
#include "stats/historical.h"
#include "store/store.h"

namespace bk::bracket {

/// One metric of one cell, by boots that are done: measured samples of good requests only.
[[nodiscard]] Result<std::vector<stats::BootValues>> boot_values(store::Database& database, store::RowId bracket,
                                                                 const std::string& metric, const std::string& cell);

/// A bracket as judged from what the database holds.
struct Judgement {
  stats::Assessment assessment;
  stats::Historical historical;  ///< of round_tok_s, as the older ledger recorded it
};
[[nodiscard]] Result<Judgement> judge_bracket(store::Database& database, store::RowId bracket, const Plan& plan);

/// The row of an assessment; detail_json holds it whole as {"assessment": …, "historical": …}.
[[nodiscard]] store::AssessmentRow to_row(const Judgement& judgement, const Plan& plan, store::RowId bracket);

}  // namespace bk::bracket
