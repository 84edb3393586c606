#pragma once
#include <string>

#include "stats/assess.h"

namespace bk::stats {

/// One sentence for people: what was found, how sure, and what would settle it.
[[nodiscard]] std::string sentence_of(const Assessment& assessment, const Rules& rules);

}  // namespace bk::stats
