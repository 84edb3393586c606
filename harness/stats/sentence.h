#pragma once
#include <string>

#include "stats/assess.h"
#include "stats/pairs.h"

namespace bk::stats {

/// One sentence for people: what was found, how sure, and what would settle it.
[[nodiscard]] std::string sentence_of(const Assessment& assessment, const Rules& rules);

/// The same for pairs, which count as pairs; two live boots are named.
[[nodiscard]] std::string pair_sentence(const PairAssessment& pairs, const Rules& rules);

}  // namespace bk::stats
