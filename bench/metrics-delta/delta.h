#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/acceptance.h"

namespace bk::metrics_delta {

/// One page: where it came from, and its counters or why there are none.
struct Page {
  std::string source;
  std::optional<engine::Counters> counters;
  std::string reason;  ///< empty when there are counters
};

/// One counter or gauge of both pages.
struct Line {
  std::string name;
  bool counter = true;  ///< a gauge has no delta
  std::optional<double> before, after;
  stream::Figure delta;
};

/// Everything that two pages say about the time between them.
struct Delta {
  Page before, after;
  std::vector<Line> lines;
  engine::Continuity continuity;
  engine::AcceptanceDelta acceptance;
  engine::IntervalRates rates;
};

/// Pure. Pages without counters give lines without values, and the reason "metrics_unavailable".
[[nodiscard]] Delta delta_of(Page before, Page after);

[[nodiscard]] Json to_json(const Delta& delta);
[[nodiscard]] std::string to_table(const Delta& delta);

}  // namespace bk::metrics_delta
