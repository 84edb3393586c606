#include "stats/summary.h"

#include <algorithm>
#include <cmath>

namespace bk::stats {
namespace {

std::optional<double> median_of_sorted(const std::vector<double>& sorted) {
  if (sorted.empty()) return std::nullopt;
  const std::size_t middle = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[middle];
  return sorted[middle - 1] + (sorted[middle] - sorted[middle - 1]) / 2;
}

void keep_finite(std::vector<double>& values) {
  values.erase(std::remove_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); }), values.end());
}

}  // namespace

Summary summarize(const std::vector<std::optional<double>>& values) {
  std::vector<double> finite;
  finite.reserve(values.size());
  for (const auto& v : values) {
    if (v && std::isfinite(*v)) finite.push_back(*v);
  }
  Summary s;
  s.n = finite.size();
  s.excluded = values.size() - finite.size();
  if (finite.empty()) return s;
  // Welford: no cancellation for values far from zero, so the deviation is never the root of a negative number.
  double mean = 0, squares = 0;
  std::size_t count = 0;
  for (const double v : finite) {
    ++count;
    const double delta = v - mean;
    mean += delta / static_cast<double>(count);
    squares += delta * (v - mean);
  }
  s.mean = mean;
  if (s.n > 1) s.sd = std::sqrt(squares / static_cast<double>(s.n - 1));
  std::sort(finite.begin(), finite.end());
  s.median = median_of_sorted(finite);
  s.min = finite.front();
  s.max = finite.back();
  return s;
}

Summary summarize(const std::vector<double>& values) {
  return summarize(std::vector<std::optional<double>>(values.begin(), values.end()));
}

Percentile percentile(std::vector<double> values, double q) {
  keep_finite(values);
  Percentile p;
  if (values.empty()) return p;
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  // 0.99 · 100 is 99.00000000000001 in binary: without the tolerance the rank would be one too high.
  const double rank = std::ceil(q * n - 1e-9);
  p.value = values[static_cast<std::size_t>(std::clamp(rank, 1.0, n)) - 1];
  p.thin_tail = n * (1 - q) < 5 - 1e-9;
  return p;
}

std::optional<double> median(std::vector<double> values) {
  keep_finite(values);
  std::sort(values.begin(), values.end());
  return median_of_sorted(values);
}

}  // namespace bk::stats
