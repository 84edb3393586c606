#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "bracket/calibrate.h"

namespace bk::bracket_tool {

/// The calibration as a Markdown page: the figures with their bounds, then every cell by its purpose.
[[nodiscard]] std::string calibration_page(const std::vector<bracket::CellResult>& results,
                                           const bracket::CalibrationFigures& figures, std::uint64_t seed,
                                           int brackets);

}  // namespace bk::bracket_tool
