#pragma once
#include "base/json.h"
#include "stats/assess.h"
#include "stats/historical.h"

namespace bk::stats {

/// snake_case members with units in their names; a missing number is null beside its reason.
[[nodiscard]] Json to_json(const Assessment& assessment);
[[nodiscard]] Json to_json(const Historical& historical);

}  // namespace bk::stats
