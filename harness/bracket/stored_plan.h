#pragma once
#include "bracket/plan.h"
#include "store/store.h"

namespace bk::bracket {

/// The plan that a bracket was run by. kUsage for an imported bracket, which has none; kParse when it cannot be read;
/// kMismatch when it is not what its hash says.
[[nodiscard]] Result<Plan> stored_plan(store::Database& database, const store::BracketRow& bracket);

/// {"GATEFUSE": "0"}
[[nodiscard]] Json knobs_json(const boot::KnobMap& knobs);
/// And back; no knobs of anything but an object.
[[nodiscard]] boot::KnobMap knobs_of(const Json& json);

}  // namespace bk::bracket
