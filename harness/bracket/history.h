#pragma once
#include <string>
#include <vector>

#include "bracket/plan.h"
#include "stats/history.h"
#include "store/store.h"

namespace bk::bracket {

/// Earlier base boots of a profile, by the session that they ran in.
struct BaseHistory {
  std::vector<stats::HistoryGroup> groups;
  int boots = 0;       ///< in groups that count
  int discounted = 0;  ///< of these, on another host, driver, image, engine version or profile text than today's
};

/// What a group's degrees of freedom are multiplied by for each of these that differs: boot noise mostly stays what it
/// is, but nobody knows by how much.
inline constexpr double kDifferingHost = 0.25, kDifferingDriver = 0.5, kDifferingImage = 0.5, kDifferingEngine = 0.5,
                        kDifferingProfile = 0.5;

/// Reads them. Sessions with a single base boot say nothing about scatter and are left out.
[[nodiscard]] Result<BaseHistory> base_history(store::Database& database, const Plan& plan,
                                               std::optional<store::RowId> except_bracket);

/// "Boot noise is also judged by 4 earlier base boots of profile sim."; empty when there are none.
[[nodiscard]] std::string history_text(const BaseHistory& history, const std::string& profile);

}  // namespace bk::bracket
