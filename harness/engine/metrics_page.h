#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace bk::engine {

/// One line of a metrics page. `value` may be NaN or infinite: the page's own words.
struct MetricSample {
  std::string name;
  std::vector<std::pair<std::string, std::string>> labels;  ///< in the page's order, escapes undone
  double value = 0;
  std::optional<double> timestamp;  ///< as written: milliseconds in Prometheus text, seconds in OpenMetrics
  int line = 0;

  [[nodiscard]] const std::string* label(std::string_view key) const;  ///< nullptr when absent
};

/// A page of Prometheus text (0.0.4) or OpenMetrics (1.0).
struct MetricsPage {
  std::vector<MetricSample> samples;
  std::map<std::string, std::string> types;  ///< family -> "counter", "gauge", … as the page declares
  bool eof_seen = false;                     ///< OpenMetrics' "# EOF"

  /// The declared type of the sample's family ("foo_total" belongs to "foo_total" or, in OpenMetrics, to "foo").
  [[nodiscard]] std::string type_of(const std::string& sample_name) const;
};

/// Reads a page. A page that arrives as one JSON string (llama.cpp did that) is unquoted first.
/// kParse with "line N: reason" for anything that does not follow the format, and for an empty page.
[[nodiscard]] Result<MetricsPage> parse_metrics(std::string_view text);

}  // namespace bk::engine
