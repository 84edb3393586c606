#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stats/boot_values.h"

namespace bk::bracket {

/// One metric of one cell as recorded elsewhere: boots in the order they ran, all values in one unit.
struct RecordedMetric {
  std::string metric;  ///< the name as it was first written
  std::string cell;    ///< empty: the file names no cell
  std::string unit;    ///< of the values; empty: none was said
  stats::Better better = stats::Better::kHigher;
  std::vector<stats::BootValues> boots;
  std::vector<std::string> converted_from;  ///< other units that occurred and were converted
  int without_value = 0;                    ///< lines whose value is null
};

/// A metric and cell that only one arm has: it is listed, and joins no comparison and no mean.
struct UnmatchedCell {
  std::string metric, cell;
  stats::Arm missing_in = stats::Arm::kCand;
};

struct Recorded {
  std::vector<RecordedMetric> metrics;  ///< in the order of their first line
  std::vector<UnmatchedCell> unmatched;
};

/// Reads samples recorded elsewhere, one JSON object a line:
///   {"boot": 0, "arm": "base", "metric": "tpot_ms", "value": 2.19, "acceptance": 0.31}
/// Optional: acceptance (raw, 0..1), k_eff (drafted tokens per draft), cell ("C=1"), unit (instead of a suffix).
/// Values of one dimension are converted to the unit seen first.
/// @param better  decides where the unit does not; kUsage when it decides nothing and contradicts a unit.
/// kUsage with "line N": text that is no such object, a boot with two arms, values of one metric in units that do not
/// convert, a metric whose direction nobody said, no line at all.
[[nodiscard]] Result<Recorded> parse_recorded(std::string_view jsonl, std::optional<stats::Better> better);

}  // namespace bk::bracket
