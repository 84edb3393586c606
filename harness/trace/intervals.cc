#include "trace/intervals.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace bk::trace {

std::int64_t union_ns(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::int64_t covered = 0;
  bool open = false;
  Interval current;
  for (const Interval& next : intervals) {
    if (open && next.begin <= current.end) {
      current.end = std::max(current.end, next.end);
      continue;
    }
    if (open) covered += current.end - current.begin;
    current = next;
    open = true;
  }
  return open ? covered + current.end - current.begin : 0;
}

std::int64_t nearest_rank(const std::vector<std::int64_t>& sorted, double q) {
  BK_CHECK(!sorted.empty());
  // The small amount keeps 0.9 * 10 from being more than nine.
  const double rank = std::ceil(q * static_cast<double>(sorted.size()) - 1e-9);
  const auto at = static_cast<std::size_t>(std::max(1.0, rank)) - 1;
  return sorted[std::min(at, sorted.size() - 1)];
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace bk::trace
