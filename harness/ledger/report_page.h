#pragma once
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "store/store.h"

namespace bk::ledger {

/// Everything that the page draws: brackets with their boots, notes, the newest calibration. Samples and token times
/// are in it for the newest `detailed` brackets.
[[nodiscard]] Result<Json> report_data(store::Database& database, std::size_t detailed = 200);

/// One self-contained page over it: no network, the same bytes for the same rows. A live one asks the server that gave
/// it for "data" again and again.
[[nodiscard]] std::string report_page(const Json& data, bool live = false);

}  // namespace bk::ledger
