#pragma once
#include <iosfwd>
#include <string>
#include <vector>

#include "base/json.h"
#include "stats/assess.h"
#include "stats/historical.h"

namespace bk::bracket_tool {

/// One metric with everything that was computed about it.
struct Judged {
  std::string metric, cell, unit;
  stats::Better better = stats::Better::kHigher;
  std::vector<stats::BootValues> boots;
  stats::Assessment assessment;
  stats::Historical historical;
};

/// "better", "worse" … in capitals with the reason code: "BETTER (effect_beyond_band)".
[[nodiscard]] std::string headline(const stats::Assessment& assessment);

/// The three effects, the drift, the ledger's rule and the assessment, one aligned line each.
void print_effects(std::ostream& out, const stats::Assessment& assessment, const stats::Historical& historical);

/// One metric: what it is, a table of its boots, then print_effects().
void print_judged(std::ostream& out, const Judged& judged);

[[nodiscard]] Json to_json(const Judged& judged);

}  // namespace bk::bracket_tool
