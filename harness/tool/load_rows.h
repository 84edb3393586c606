#pragma once
#include <vector>

#include "report/format.h"
#include "tool/load_figures.h"

namespace bk::tool {

/// One row a cell. People see the percentiles that matter, "123.4*" where the tail is thin; programs all of them, each
/// with a `<name>_thin_tail` beside it.
[[nodiscard]] report::Records load_rows(const std::vector<CellFigures>& cells, report::Format format);

}  // namespace bk::tool
