#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace bk::ledger {

/// The boots of a bracket as Markdown tables, one a cell, the primary cell first: arm, state, median of each metric
/// over the samples that succeeded, their number, acceptance, gates.
[[nodiscard]] Result<std::string> boot_tables(store::Database& database, const store::BracketRow& bracket,
                                              const std::vector<store::BootRow>& boots);

}  // namespace bk::ledger
