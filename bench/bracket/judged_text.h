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

/// Raw, at equal acceptance, on acceptance: one aligned line each.
void print_three_effects(std::ostream& out, const Json& assessment);
/// The intervals of both effects as bars on one scale; nothing where there is no interval.
void print_scale(std::ostream& out, const Json& assessment);
/// The assessment with its reason code, and its sentence.
void print_state(std::ostream& out, const Json& assessment);

/// The three effects, their bars, the drift, the ledger's rule and the assessment, one aligned line each.
/// @param assessment, historical  as stats::to_json() writes them, and as the database keeps them.
void print_effects(std::ostream& out, const Json& assessment, const Json& historical);

/// One metric: what it is, a table of its boots, then print_effects().
void print_judged(std::ostream& out, const Judged& judged);

[[nodiscard]] Json to_json(const Judged& judged);

/// A label and a text, the labels of one screen aligned.
void print_line(std::ostream& out, const std::string& label, const std::string& text);

}  // namespace bk::bracket_tool
