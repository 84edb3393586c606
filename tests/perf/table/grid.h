#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "grid_figures.h"

namespace bk::perf {

/// The bounds of the grid, and how often a cell that breaks them is measured before it counts as wrong: what a busy
/// machine does to one run it does not do to three, what a definition does it does to all.
inline constexpr double kTimeLimit_ms = 1, kRateLimit_pct = 0.5;
inline constexpr int kTries = 3;

/// How far one program's figures are from the engine's own record in the run that was nearest.
struct GridRow {
  std::string program, knobs;
  int tries = 1;
  GridErrors errors;
  [[nodiscard]] bool within() const { return errors.within(kTimeLimit_ms, kRateLimit_pct); }
};

/// Runs every bench program of `bin` on sim-engine with 1 to 8 tokens an event, answers that reason first, prompts that
/// a cache answers and each program's own knobs, and compares every figure that it shows.
[[nodiscard]] Result<std::vector<GridRow>> accuracy_grid(const std::filesystem::path& bin, bool quick,
                                                         const std::function<void(const std::string&)>& progress);

}  // namespace bk::perf
