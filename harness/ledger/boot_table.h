#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace bk::ledger {

/// The boots of a bracket as Markdown tables, one a cell, the primary cell first: arm, state, median of each metric
/// over the samples that succeeded, their number, acceptance, gates.
[[nodiscard]] std::string boot_tables(const store::BracketRow& bracket, const std::vector<store::BootRow>& boots,
                                      const std::vector<store::BootFigure>& figures,
                                      const std::vector<std::pair<store::RowId, store::GateRow>>& gates);

/// Metrics that pages show, in this order, where there are any; the primary one comes before all.
[[nodiscard]] const std::vector<std::string>& shown_metrics();

}  // namespace bk::ledger
