#pragma once
#include "base/result.h"
#include "cli/app.h"

namespace bk::cli {

/// Registers --nice, bound to `nice`.
void add_nice_to(App& app, bool& nice);

/// Least CPU priority (nice 19) and idle IO class for the calling thread and the threads that it starts afterwards: a
/// busy core on a serving node costs it decode speed. kUnavailable when the system refuses.
[[nodiscard]] Status lower_priority();

}  // namespace bk::cli
