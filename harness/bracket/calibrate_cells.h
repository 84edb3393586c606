#pragma once
#include <string>
#include <vector>

#include "bracket/calibrate_world.h"

namespace bk::bracket {

/// How a bracket of a cell is judged.
enum class Judge {
  kRule,          ///< the tool's own
  kLedgerRule,    ///< effect against the gap of the bases
  kPooledU,       ///< all requests of both arms in one rank test, the request as unit
  kPairedTrials,  ///< two live boots, alternating requests, the pair as unit
  kSweep,         ///< the tool's own, of several values against one base
  kMatrix         ///< the tool's own, of two knobs: single arms, then the combined one and the interaction
};
const char* to_string(Judge judge);

/// Which figure a cell enters.
enum class Purpose { kFalseAlarm, kStep, kPower, kNaive, kFamily };
const char* to_string(Purpose purpose);

/// One line of the calibration: a design in a world.
struct CalibrationCell {
  std::string name;   ///< "aba/history12/sd1.0/drift3"
  std::string order;  ///< "ABA", A is the base; the whole of a sequential plan; of a family with a letter for each arm
  Purpose purpose = Purpose::kFalseAlarm;
  World world;
  int history_boots = 0;
  std::vector<int> looks = {};  ///< boots at each look of a sequential plan; empty: one look at the end
  Judge judge = Judge::kRule;
};

/// Every cell: designs × boot deviations × drift × what else may go wrong, the power cells, the naive rules, matrices
/// and sweeps ("family/sweep5/sd1.0").
[[nodiscard]] std::vector<CalibrationCell> calibration_cells();

inline constexpr const char* kPowerAba35 = "power/aba/3.5";
inline constexpr const char* kPowerAba15 = "power/aba/1.5";
inline constexpr const char* kPowerAbba12 = "power/abba12/3.5";
inline constexpr const char* kLedgerCell = "naive/ledger_rule/sd1.0";

}  // namespace bk::bracket
