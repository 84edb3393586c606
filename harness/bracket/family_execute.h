#pragma once
#include "bracket/execute.h"
#include "bracket/family_judge.h"

namespace bk::bracket {

/// Stores a family's plan and one bracket for each comparison; nothing is booted.
/// @param reopen  as for store_plan()
[[nodiscard]] Result<FamilyRows> store_family(store::Database& database, const Family& family,
                                              const std::string& reopen);

/// How a family ended.
struct FamilyOutcome {
  int compared = 0;  ///< arms that were assessed
  bool is_void = false;
};

/// Runs every boot of the family that is not done yet, judges each stage at its end and stores one assessment for each
/// comparison and one for the whole. A void cause in a boot of one arm voids that comparison alone; in a shared base
/// boot, all of them. A combined arm whose single arms did not all pass (void, measured worse, or with a gate that did
/// not pass) is not booted, and void with that reason.
/// Errors leave the family resumable, as with execute().
[[nodiscard]] Result<FamilyOutcome> execute_family(const Tools& tools, const boot::Profile& profile,
                                                   const Family& family, const FamilyRows& rows, store::RowId run);

}  // namespace bk::bracket
