#pragma once
#include <functional>

#include "base/json.h"
#include "bracket/calibrate_cells.h"

namespace bk::bracket {

/// What the brackets of one cell showed. A share of an empty cell is nothing.
struct CellResult {
  CalibrationCell cell;
  int brackets = 0;
  int significant =
      0;  ///< p < alpha and no step explains it: with no effect, the false alarms. Of a family: any of them
  int better = 0, worse = 0;
  /// Intervals of the deciding effect, and those that hold the truth; of a sweep that of the value picked as best.
  int covered = 0, intervals = 0;
  int best_kept = 0, sweeps = 0;  ///< sweeps, and those whose set of possible peaks holds the true one
  [[nodiscard]] double significant_pct() const { return 100.0 * significant / brackets; }
  [[nodiscard]] double better_pct() const { return 100.0 * better / brackets; }
  [[nodiscard]] double called_pct() const { return 100.0 * (better + worse) / brackets; }
  [[nodiscard]] std::optional<double> coverage_pct() const;
  [[nodiscard]] std::optional<double> best_kept_pct() const;
};

/// Judges `brackets` simulated brackets of one cell. The same seed gives the same numbers on every machine that
/// computes alike, whatever runs beside it.
[[nodiscard]] CellResult run_cell(const CalibrationCell& cell, int brackets, std::uint64_t seed);

/// All cells, spread over `threads` threads. shape: one result a cell, in order.
/// @param done  told how many cells are done, from any thread, one at a time.  @param stopped  ends the run early:
/// cells that were not begun have no brackets.
[[nodiscard]] std::vector<CellResult> run_cells(const std::vector<CalibrationCell>& cells, int brackets,
                                                std::uint64_t seed, int threads,
                                                const std::function<void(std::size_t)>& done = nullptr,
                                                const std::function<bool()>& stopped = nullptr);

/// The figures that have bounds, in percent; nothing where no cell gives it.
struct CalibrationFigures {
  std::optional<double> false_alarm_max, false_alarm_step_max, false_alarm_step_aba_max, coverage_min, coverage_max;
  std::optional<double> power_aba_3_5, power_aba_1_5, power_abba12_3_5, power_abba12_3_5_significant;
  std::optional<double> ledger_rule_false_alarm;
  /// Of a matrix or sweep: one question or more without an effect was called; the picked peak's interval holds its
  /// truth; the possible peaks hold the true one.
  std::optional<double> family_false_alarm_max, peak_coverage_min, best_kept_min;
};
/// Coverage is that of plans with one look: what a sequential plan stops at is chosen for being large.
[[nodiscard]] CalibrationFigures figures_of(const std::vector<CellResult>& results);

/// A figure and the bounds that it has to keep, in percent.
struct Bound {
  const char* name;
  std::optional<double> value;
  std::optional<double> at_least, at_most;
  /// @param slack  percentage points that few brackets need; 0 in full.
  [[nodiscard]] bool left(double slack) const {
    return value && ((at_least && *value < *at_least - slack) || (at_most && *value > *at_most + slack));
  }
};
/// Every figure that has a bound; `ledger_rule_false_alarm` is shown beside them and has none.
[[nodiscard]] std::vector<Bound> bounds_of(const CalibrationFigures& figures);

/// Every bound that is left, one sentence each.
[[nodiscard]] std::vector<std::string> bounds_left(const CalibrationFigures& figures, double slack);

[[nodiscard]] Json to_json(const CalibrationFigures& figures);

}  // namespace bk::bracket
