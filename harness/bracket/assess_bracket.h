#pragma once
#include <vector>

#include "bracket/history.h"
#include "bracket/plan.h"
#include "stats/assess.h"
#include "stats/historical.h"
#include "store/store.h"

namespace bk::bracket {

/// One boot's measured samples of good requests, of `points` (one metric in one cell) those that are its own.
[[nodiscard]] stats::BootValues values_of_boot(const store::BootRow& boot,
                                               const std::vector<store::MetricPoint>& points);

/// One metric of one cell, by boots that are done: measured samples of good requests only.
[[nodiscard]] Result<std::vector<stats::BootValues>> boot_values(store::Database& database, store::RowId bracket,
                                                                 const std::string& metric, const std::string& cell);

/// A bracket as judged from what the database holds.
struct Judgement {
  stats::Assessment assessment;
  stats::Historical historical;  ///< of round_tok_s, as the older ledger recorded it
  Json history;                  ///< the earlier boots that boot noise was judged by
  Json family = {};              ///< of a matrix or sweep and of its comparisons: what was judged together; else null
};
/// Boot noise comes from the bracket and from the profile's earlier base boots; the sentence says when it does.
[[nodiscard]] Result<Judgement> judge_bracket(store::Database& database, store::RowId bracket, const Plan& plan);
/// The same by the earlier boots that are given.
[[nodiscard]] Result<Judgement> judge_bracket(store::Database& database, store::RowId bracket, const Plan& plan,
                                              const BaseHistory& earlier);

/// The row of an assessment; detail_json holds it whole as {"rule_version": …, "history": …, "assessment": …,
/// "historical": …}, with "family" where there is one.
[[nodiscard]] store::AssessmentRow to_row(const Judgement& judgement, const Plan& plan, store::RowId bracket);

}  // namespace bk::bracket
