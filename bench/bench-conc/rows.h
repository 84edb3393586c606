#pragma once
#include <vector>

#include "figures.h"
#include "report/format.h"

namespace bk::bench_conc {

/// One row a cell. People see the percentiles that matter, "123.4*" where the tail is thin; programs all of them, each
/// with a `<name>_thin_tail` beside it.
[[nodiscard]] report::Records rows_of(const std::vector<CellFigures>& cells, report::Format format);

}  // namespace bk::bench_conc
