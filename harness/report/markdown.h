#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "report/format.h"

namespace bk::report {

/// Text that shows as itself inside a Markdown table cell: pipes, backslashes, backticks, HTML, emphasis and line
/// breaks lose their meaning.
[[nodiscard]] std::string markdown_escape(std::string_view text);
/// A pipe table; cells are escaped here.
[[nodiscard]] std::string markdown_table(const std::vector<std::string>& header, const std::vector<Align>& align,
                                         const std::vector<std::vector<std::string>>& rows);

}  // namespace bk::report
