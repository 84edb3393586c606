#include "trace/composition.h"

#include <algorithm>
#include <map>

#include "trace/intervals.h"

namespace bk::trace {
namespace {

double us(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

/// Steps, and the sorted GPU work with the step of each slice.
struct Cut {
  StepAnchor anchor;
  std::vector<Step> steps;
  std::vector<Slice> work;
  std::vector<std::vector<Slice>> by_step;
};

Result<Cut> cut(const Recording& recording, const Rules& rules, const StepOptions& options) {
  Cut cut;
  const auto anchor = find_steps(recording, options.step ? std::vector<StepRule>{*options.step} : rules.steps);
  if (!anchor) {
    return fail(Errc::kInconclusive, "no name matches a step rule; say with --step what happens once a step",
                recording.source);
  }
  cut.anchor = *anchor;
  BK_ASSIGN(cut.steps, steady_steps(recording, *anchor, options.skip, options.min_steps));
  cut.work = recording.sorted({Kind::kKernel, Kind::kMemop});
  cut.by_step.resize(cut.steps.size());
  StepFinder finder(cut.steps);
  for (const Slice& slice : cut.work) {
    if (const auto at = finder.find(slice.ts_ns)) cut.by_step[*at].push_back(slice);
  }
  return cut;
}

std::int64_t union_of(const std::vector<Slice>& slices) {
  std::vector<Interval> intervals;
  intervals.reserve(slices.size());
  for (const Slice& slice : slices) intervals.push_back({slice.ts_ns, slice.end_ns()});
  return union_ns(std::move(intervals));
}

StepParts parts_of(const Recording& recording, const Rules& rules, const std::vector<std::size_t>& groups,
                   const std::vector<bool>& is_allreduce, const std::vector<Slice>& slices) {
  StepParts parts;
  parts.group_us.resize(rules.groups.size());
  parts.group_count.resize(rules.groups.size());
  std::int64_t sum = 0;
  for (const Slice& slice : slices) {
    sum += slice.dur_ns;
    parts.group_us[groups[slice.name]] += us(slice.dur_ns);
    parts.group_count[groups[slice.name]] += 1;
    const bool kernel = recording.names()[slice.name].kind == Kind::kKernel;
    if (kernel && is_allreduce[slice.name]) parts.allreduce_ns.push_back(slice.dur_ns);
  }
  parts.overlap_us = us(sum - union_of(slices));
  return parts;
}

std::vector<GroupMedian> medians(const std::vector<std::string>& labels, const std::vector<std::vector<double>>& times,
                                 const std::vector<std::vector<double>>& counts) {
  std::vector<GroupMedian> rows;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const bool any = std::any_of(counts[i].begin(), counts[i].end(), [](double count) { return count > 0; });
    if (any) rows.push_back({labels[i], median(times[i]), median(counts[i])});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.us > b.us; });
  return rows;
}

std::vector<GroupMedian> group_medians(const Rules& rules, const std::vector<StepParts>& steps) {
  std::vector<std::string> labels;
  std::vector<std::vector<double>> times(rules.groups.size()), counts(rules.groups.size());
  labels.reserve(rules.groups.size());
  for (const auto& group : rules.groups) labels.push_back(group.name);
  for (const StepParts& step : steps) {
    for (std::size_t g = 0; g < labels.size(); ++g) {
      times[g].push_back(step.group_us[g]);
      counts[g].push_back(step.group_count[g]);
    }
  }
  return medians(labels, times, counts);
}

std::vector<double> column(const std::vector<StepParts>& steps, double StepParts::*member) {
  std::vector<double> values;
  values.reserve(steps.size());
  for (const StepParts& step : steps) values.push_back(step.*member);
  return values;
}

std::vector<bool> allreduce_names(const Recording& recording, const Rules& rules) {
  std::vector<bool> found;
  found.reserve(recording.names().size());
  for (const Name& name : recording.names()) found.push_back(rules.is_allreduce(name.text));
  return found;
}

std::optional<Composition::AllReduce> allreduce_of(const std::vector<StepParts>& steps) {
  std::vector<std::int64_t> all;
  for (const StepParts& step : steps) all.insert(all.end(), step.allreduce_ns.begin(), step.allreduce_ns.end());
  if (all.empty()) return std::nullopt;
  std::sort(all.begin(), all.end());
  return Composition::AllReduce{all.size(), us(nearest_rank(all, 0.1)), us(nearest_rank(all, 0.5)),
                                us(nearest_rank(all, 0.9)), us(all.back())};
}

}  // namespace

std::vector<std::size_t> groups_of_names(const Recording& recording, const Rules& rules) {
  std::vector<std::size_t> groups;
  groups.reserve(recording.names().size());
  for (const Name& name : recording.names()) groups.push_back(rules.group_of(name.text, name.category));
  return groups;
}

std::int64_t covered_ns(const std::vector<Slice>& sorted, std::int64_t begin, std::int64_t end) {
  std::vector<Interval> inside;
  for (const Slice& slice : sorted) {
    if (slice.ts_ns >= end) break;
    const Interval clipped{std::max(begin, slice.ts_ns), std::min(end, slice.end_ns())};
    if (clipped.begin < clipped.end) inside.push_back(clipped);
  }
  return union_ns(std::move(inside));
}

Result<Composition> compose(const Recording& recording, const Rules& rules, const StepOptions& options) {
  BK_ASSIGN(const Cut all, cut(recording, rules, options));
  const auto groups = groups_of_names(recording, rules);
  const auto allreduce = allreduce_names(recording, rules);
  std::vector<StepParts> steps;
  std::vector<Slice> carried;  // what started earlier and may still run
  std::size_t next = 0;
  for (std::size_t i = 0; i < all.steps.size(); ++i) {
    const Step& step = all.steps[i];
    while (next < all.work.size() && all.work[next].ts_ns < step.end_ns) carried.push_back(all.work[next++]);
    std::erase_if(carried, [&](const Slice& slice) { return slice.end_ns() <= step.begin_ns; });
    StepParts parts = parts_of(recording, rules, groups, allreduce, all.by_step[i]);
    const std::int64_t span = step.end_ns - step.begin_ns;
    parts.span_us = us(span);
    parts.idle_us = us(span - covered_ns(carried, step.begin_ns, step.end_ns));
    steps.push_back(std::move(parts));
  }
  Composition result;
  result.anchor = describe(recording, all.anchor);
  result.steps = steps.size();
  result.span_us = median(column(steps, &StepParts::span_us));
  result.idle_us = median(column(steps, &StepParts::idle_us));
  result.overlap_us = median(column(steps, &StepParts::overlap_us));
  result.groups = group_medians(rules, steps);
  result.allreduce = allreduce_of(steps);
  return result;
}

namespace {

/// End of the last kernel of the group, or nothing.
std::optional<std::int64_t> forward_end(const std::vector<Slice>& slices, const std::vector<std::size_t>& groups,
                                        std::size_t group) {
  std::optional<std::int64_t> end;
  for (const Slice& slice : slices) {
    if (groups[slice.name] == group) end = std::max(end.value_or(slice.end_ns()), slice.end_ns());
  }
  return end;
}

struct TailSums {
  std::vector<StepParts> parts;
  std::vector<double> forward_us, tail_us, busy_pct;
  std::map<std::uint32_t, std::vector<std::pair<double, double>>> kernels;  ///< name -> (us, count) of steps with any
};

void add_tail(TailSums& sums, const Step& step, std::int64_t end, const std::vector<Slice>& tail) {
  const std::int64_t span = step.end_ns - end;
  sums.forward_us.push_back(us(end - step.begin_ns));
  sums.tail_us.push_back(us(span));
  if (span > 0) {
    sums.busy_pct.push_back(100.0 * static_cast<double>(covered_ns(tail, end, step.end_ns)) /
                            static_cast<double>(span));
  }
  std::map<std::uint32_t, std::pair<double, double>> here;
  for (const Slice& slice : tail) {
    here[slice.name].first += us(slice.dur_ns);
    here[slice.name].second += 1;
  }
  for (const auto& [name, amount] : here) sums.kernels[name].push_back(amount);
}

std::vector<GroupMedian> kernel_medians(const Recording& recording, const TailSums& sums) {
  std::vector<std::string> labels;
  std::vector<std::vector<double>> times, counts;
  for (const auto& [name, amounts] : sums.kernels) {
    labels.push_back(recording.names()[name].text);
    std::vector<double> time(sums.parts.size()), count(sums.parts.size());
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      time[i] = amounts[i].first;
      count[i] = amounts[i].second;
    }
    times.push_back(std::move(time));
    counts.push_back(std::move(count));
  }
  return medians(labels, times, counts);
}

}  // namespace

Result<Tail> split_tail(const Recording& recording, const Rules& rules, const StepOptions& options) {
  BK_ASSIGN(const Cut all, cut(recording, rules, options));
  const auto groups = groups_of_names(recording, rules);
  const auto allreduce = allreduce_names(recording, rules);
  const auto group = std::find_if(rules.groups.begin(), rules.groups.end(),
                                  [&](const auto& candidate) { return candidate.name == rules.forward_end; });
  if (group == rules.groups.end()) {
    return fail(Errc::kUsage, "the rules have no group " + rules.forward_end, "forward_end");
  }
  TailSums sums;
  for (std::size_t i = 0; i < all.steps.size(); ++i) {
    const auto end = forward_end(all.by_step[i], groups, static_cast<std::size_t>(group - rules.groups.begin()));
    if (!end) continue;
    const std::int64_t cut_at = std::min(*end, all.steps[i].end_ns);
    std::vector<Slice> tail;
    for (const Slice& slice : all.by_step[i]) {
      if (slice.ts_ns >= cut_at) tail.push_back(slice);
    }
    sums.parts.push_back(parts_of(recording, rules, groups, allreduce, tail));
    add_tail(sums, all.steps[i], cut_at, tail);
  }
  if (sums.parts.empty()) {
    return fail(Errc::kInconclusive, "no step has a kernel of the group " + rules.forward_end, recording.source);
  }
  Tail result;
  result.anchor = describe(recording, all.anchor);
  result.steps = sums.parts.size();
  result.forward_us = median(sums.forward_us);
  result.tail_us = median(sums.tail_us);
  result.tail_busy_pct = median(sums.busy_pct);
  result.groups = group_medians(rules, sums.parts);
  result.kernels = kernel_medians(recording, sums);
  return result;
}

}  // namespace bk::trace
