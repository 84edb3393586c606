#pragma once
#include <optional>
#include <string>

#include "stats/boot_values.h"

namespace bk::bracket {

/// What a metric's name or stated unit says about its values.
struct Unit {
  std::string name;                     ///< "ms", "tok/s"; empty: none was said
  std::string dimension;                ///< values of one dimension can be converted: "time", "tok/s"; empty: not known
  double scale = 1;                     ///< value · scale is in the dimension's base unit (seconds for time)
  std::optional<stats::Better> better;  ///< nothing: the unit does not say
};

/// A metric's name without its unit, and the unit: "ttft_ms" -> "ttft" in ms, "decode_tok_s" -> "decode" in tok/s.
/// Times are better when lower, rates ("…_per_s", "…tok_s") when higher.
struct MetricName {
  std::string stem;
  Unit unit;
};
[[nodiscard]] MetricName split_metric(const std::string& metric);

/// A unit as people write it: "ms", "us", "tok/s", "req/s". One that is not known has its own name as dimension.
[[nodiscard]] Unit parse_unit(const std::string& text);

}  // namespace bk::bracket
