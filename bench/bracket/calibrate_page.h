#pragma once
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "bracket/calibrate.h"

namespace bk::bracket_tool {

/// A calibration's JSON as a Markdown page: the figures with their bounds, then every cell by its purpose.
[[nodiscard]] std::string calibration_page(const Json& result);

/// The figures that a calibration's JSON holds.
[[nodiscard]] bracket::CalibrationFigures figures_in(const Json& result);

/// A calibration's JSON out of a file's text: that of `bracket calibrate --json`, or the last one among rows of the
/// ledger, one a line. kParse when there is none.
[[nodiscard]] Result<Json> calibration_in(std::string_view text);

}  // namespace bk::bracket_tool
