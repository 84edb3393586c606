#pragma once
#include <cstddef>
#include <string>

#include "base/result.h"
#include "store/store.h"

namespace bk::ledger {

/// MEASUREMENTS.md of a database: the same bytes for the same rows, whenever and wherever it is rendered.
/// @param threads  that share the brackets, each with a connection of its own; 0: one a core where there are many.
[[nodiscard]] Result<std::string> render_markdown(store::Database& database, std::size_t threads = 0);

}  // namespace bk::ledger
