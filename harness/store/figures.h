#pragma once
#include <vector>

#include "base/result.h"
#include "store/connection.h"
#include "store/rows.h"

namespace bk::store {

/// The figures of a boot from its samples, by cell and name.
[[nodiscard]] Result<std::vector<BootFigure>> compute_figures(Connection& connection, RowId boot);
/// Keeps them in boot_figure, in place of what stood there. Inside a transaction of the caller.
[[nodiscard]] Status keep_figures(Connection& connection, RowId boot);
/// Forgets them: the boot's samples changed. Inside a transaction of the caller.
[[nodiscard]] Status forget_figures(Connection& connection, RowId leg);

}  // namespace bk::store
