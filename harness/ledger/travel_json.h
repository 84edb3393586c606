#pragma once
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "store/exchange.h"

namespace bk::ledger {

/// {"table": "sample", "uid": …, …, "sample_metric": [{…}]}: a row with its parts under their table's name. The token
/// times of a request are [[ns since the request was sent, tokens], …], with -1 where the server did not say.
[[nodiscard]] Result<Json> to_json(const store::TravelRow& row);
/// The reverse. kParse for text that is no such object.
[[nodiscard]] Result<store::TravelRow> travel_row(std::string_view line);

}  // namespace bk::ledger
