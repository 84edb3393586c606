#pragma once
#include <functional>
#include <string>

#include "base/result.h"
#include "lane.h"
#include "prober.h"
#include "rules.h"

namespace bk::supervisor {

/// Takes every event: the state that the watch is in, and one line.
using Journal = std::function<void(const std::string& state, const std::string& event)>;

/// Keeps the lane serving until `stop`, then stops what it launched. Errors: only what makes the watch itself useless,
/// such as a state folder that cannot be written.
[[nodiscard]] Status watch(const Rules& rules, Lane& lane, const std::function<bool()>& stop, const Journal& journal);

}  // namespace bk::supervisor
