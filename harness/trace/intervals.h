#pragma once
#include <cstdint>
#include <vector>

namespace bk::trace {

/// [begin, end) in nanoseconds.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Length covered by at least one interval: sorted by start, merged while start <= current end.
/// [0,10), [5,15), [20,30) is 25. Source: the facts of the trace tools.
[[nodiscard]] std::int64_t union_ns(std::vector<Interval> intervals);

/// Nearest-rank percentile: the value at index ceil(q*n)-1 of the sorted values. `sorted` must not be empty; 0 < q
/// <= 1.
[[nodiscard]] std::int64_t nearest_rank(const std::vector<std::int64_t>& sorted, double q);
/// Median; the mean of the middle two when their number is even. 0 for none.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace bk::trace
