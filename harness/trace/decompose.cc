#include "trace/decompose.h"

#include <algorithm>

#include "trace/intervals.h"

namespace bk::trace {
namespace {

double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

void most_time_first(std::vector<Decomposition::Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.ms > b.ms; });
}

}  // namespace

Decomposition decompose(const Recording& recording, const Rules& rules) {
  Decomposition result;
  result.source = recording.source;
  result.left_out = recording.counts.incomplete_gpu;
  std::vector<Interval> intervals;
  std::int64_t sum = 0, end = 0;
  for (const Slice& slice : recording.sorted({Kind::kKernel, Kind::kMemop})) {
    end = intervals.empty() ? slice.end_ns() : std::max(end, slice.end_ns());
    intervals.push_back({slice.ts_ns, slice.end_ns()});
    sum += slice.dur_ns;
  }
  if (intervals.empty()) return result;
  result.sum_ms = ms(sum);
  result.wall_ms = ms(end - intervals.front().begin);
  result.busy_ms = ms(union_ns(std::move(intervals)));
  result.idle_ms = std::max(0.0, result.wall_ms - result.busy_ms);
  const auto share = [&](std::int64_t ns) {
    return sum > 0 ? 100.0 * static_cast<double>(ns) / static_cast<double>(sum) : 0;
  };
  std::vector<std::pair<std::uint64_t, std::int64_t>> by_group(rules.groups.size());
  for (const Name& name : recording.names()) {
    if (name.kind != Kind::kKernel && name.kind != Kind::kMemop) continue;
    const std::size_t group = rules.group_of(name.text, name.category);
    by_group[group].first += name.count;
    by_group[group].second += name.sum_ns;
    result.kernels.push_back({name.text, rules.groups[group].name, name.count, ms(name.sum_ns), share(name.sum_ns)});
  }
  for (std::size_t i = 0; i < by_group.size(); ++i) {
    const auto& [count, ns] = by_group[i];
    if (count > 0) result.groups.push_back({rules.groups[i].name, "", count, ms(ns), share(ns)});
  }
  most_time_first(result.groups);
  most_time_first(result.kernels);
  return result;
}

}  // namespace bk::trace
