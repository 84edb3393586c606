#pragma once
#include <string>

namespace bk::bracket_tool {

/// Intervals as bars of one scale from -reach to +reach, 0 in the middle, in plain characters.
/// "-8.1 %            0            +8.1 %": what the ends of the bars below it are.
[[nodiscard]] std::string scale_line(double reach);

/// "[----o----|--]": an interval with its estimate, and 0 where it lies. Values beyond the reach stop at its end.
/// @param reach  above 0, in the unit of the values.
[[nodiscard]] std::string bar(double low, double value, double high, double reach);

}  // namespace bk::bracket_tool
