#pragma once
#include <cstddef>
#include <optional>
#include <vector>

namespace bk::stats {

/// What a list of numbers says. Values that are absent or not finite are left out and counted; nothing is made up:
/// an empty list has no mean, one value has no deviation.
struct Summary {
  std::size_t n = 0;
  std::size_t excluded = 0;
  std::optional<double> mean, sd, median, min, max;  ///< sd with n - 1; median: mean of the middle two for even n
};
[[nodiscard]] Summary summarize(const std::vector<std::optional<double>>& values);
[[nodiscard]] Summary summarize(const std::vector<double>& values);

/// A percentile by nearest rank: the ceil(q·n)-th smallest value.
struct Percentile {
  std::optional<double> value;
  bool thin_tail = false;  ///< n·(1 - q) < 5: fewer than five observations lie beyond it, read it with care
};
/// @param q  in (0, 1), e.g. 0.99. Values that are not finite are left out.
[[nodiscard]] Percentile percentile(std::vector<double> values, double q);

/// Median of finite values; nothing when there is none.
[[nodiscard]] std::optional<double> median(std::vector<double> values);

}  // namespace bk::stats
