#pragma once
#include <vector>

#include "bracket/calibrate_cells.h"

namespace bk::bracket {

/// Two-sided p of the Mann-Whitney U test by its normal approximation, without ties. 1 when a side is empty.
[[nodiscard]] double u_test_p(const std::vector<double>& a, const std::vector<double>& b);

/// Whether a naive rule calls these boots different at 5 %. Paired trials: sample i of the first boot against sample i
/// of the second, paired t.
[[nodiscard]] bool naive_call(Judge judge, const std::vector<stats::BootValues>& boots);

}  // namespace bk::bracket
