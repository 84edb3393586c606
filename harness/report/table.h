#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/format.h"

namespace bk::report {

/// Terminal columns that a text takes: wide East Asian characters count 2, combining marks and controls 0.
[[nodiscard]] std::size_t display_width(std::string_view utf8);
/// The longest start of the text that takes no more than `width` columns, never cut inside a character.
[[nodiscard]] std::string_view clip(std::string_view utf8, std::size_t width);
/// With a blank for every control character, such as line ends and what begins a terminal's commands.
[[nodiscard]] std::string one_line(std::string_view text);
/// Padded with blanks to `width` columns; never cut.
[[nodiscard]] std::string pad(std::string_view utf8, std::size_t width, Align align);

/// Header and rows in aligned columns, two blanks apart, a rule under the header, no blanks at line ends.
/// Cells are put on one line.
[[nodiscard]] std::string table(const std::vector<std::string>& header, const std::vector<Align>& align,
                                const std::vector<std::vector<std::string>>& rows);

}  // namespace bk::report
