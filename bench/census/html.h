#pragma once
#include <string>
#include <vector>

#include "trace/census.h"

namespace bk::census {

/// One self-contained page: the step's timeline by stream, and bars of time by group per step. No script, no network.
/// The notes stand under the totals.
[[nodiscard]] std::string html_page(const trace::Recording& recording, const trace::Rules& rules,
                                    const trace::Census& census, const trace::Step& step,
                                    const std::vector<std::string>& notes);

}  // namespace bk::census
