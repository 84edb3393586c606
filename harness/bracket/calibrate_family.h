#pragma once
#include "bracket/calibrate_cells.h"

namespace bk::bracket {

/// What one simulated matrix or sweep showed, beside the truth.
struct FamilyTrial {
  bool false_alarm = false;  ///< one question or more without an effect was called
  bool called = false;       ///< better or worse was said of one arm or more
  bool better = false;       ///< better was said of one arm or more
  /// Of a sweep: whether the interval of the arm that was picked as best holds its true effect; nothing when the base
  /// was picked.
  std::optional<bool> peak_covered;
  std::optional<bool> best_kept;  ///< of a sweep: the truly best arm is among those that are not told from the best
};

/// @param cell  judged by kSweep or kMatrix.
[[nodiscard]] FamilyTrial try_family(const CalibrationCell& cell, stats::Random& random);

}  // namespace bk::bracket
