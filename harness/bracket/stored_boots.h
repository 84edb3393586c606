#pragma once
#include <vector>

#include "bracket/checks.h"
#include "store/store.h"

/// What a stored bracket has behind it, for a run that goes on with it.
namespace bk::bracket {

/// What finished boots showed of themselves, in the order of the plan.
[[nodiscard]] Result<std::vector<BootEvidence>> finished_evidence(store::Database& database, store::RowId bracket);

/// Rows that a killed program left in the middle of their lives are ended; the boot will be run again.
[[nodiscard]] Status end_stale_boots(store::Database& database, store::RowId bracket);

/// One boot of a plan.
struct Position {
  bool done = false;
  int attempts = 0;
};
/// shape: `planned`
[[nodiscard]] Result<std::vector<Position>> positions(store::Database& database, store::RowId bracket,
                                                      std::size_t planned);

}  // namespace bk::bracket
