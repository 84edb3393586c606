#pragma once
#include "base/json.h"
#include "stats/assess.h"
#include "stats/historical.h"

namespace bk::stats {

/// snake_case members with units in their names; a missing number is null beside its reason.
[[nodiscard]] Json to_json(const Assessment& assessment);
[[nodiscard]] Json to_json(const Historical& historical);
/// A log-scale effect in percent, with its interval.
[[nodiscard]] Json to_json(const Effect& effect);

}  // namespace bk::stats
