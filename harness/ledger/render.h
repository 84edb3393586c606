#pragma once
#include <string>

#include "base/result.h"
#include "store/store.h"

namespace bk::ledger {

/// MEASUREMENTS.md of a database: the same bytes for the same rows, whenever and wherever it is rendered.
[[nodiscard]] Result<std::string> render_markdown(store::Database& database);

}  // namespace bk::ledger
