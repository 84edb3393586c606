#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace bk::ledger {

/// The verdicts as tables, each under its heading: adopted, rejected, neutral and invalid, unavailable, open axes.
[[nodiscard]] std::string verdict_tables(const std::vector<store::BracketSummary>& brackets);

/// The newest calibration as figures and a table of cells.
[[nodiscard]] Result<std::string> calibration_section(const std::optional<store::CalibrationRow>& calibration);

}  // namespace bk::ledger
