#include "trace/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "base/text.h"

namespace bk::trace {
namespace {

const char* word_of(Kind kind) {
  switch (kind) {
    case Kind::kGpuAnnotation:
      return "gpu_annotation";
    case Kind::kAnnotation:
      return "annotation";
    default:
      return "kernel";
  }
}

/// Launches of the kernels, or ranges of the annotations, that the rule matches: one candidate a name.
std::vector<StepAnchor> candidates(const Recording& recording, const StepRule& rule) {
  std::vector<StepAnchor> found;
  for (std::size_t i = 0; i < recording.names().size(); ++i) {
    const Name& name = recording.names()[i];
    if (name.kind != rule.kind || !rule.pattern.matches(to_lower(name.text), "")) continue;
    found.push_back({name.kind, static_cast<std::uint32_t>(i), name.count, 0});
  }
  return found;
}

/// Leaves of each name the ranges of one stream.
void keep_longest_stream(const Recording& recording, std::vector<StepAnchor>& anchors) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::int64_t, std::uint64_t>> ranges;
  recording.for_each_range([&](const Slice& slice) {
    const bool wanted = std::any_of(anchors.begin(), anchors.end(),
                                    [&](const StepAnchor& anchor) { return anchor.name == slice.name; });
    if (!wanted) return;
    auto& [sum_ns, count] = ranges[{slice.name, slice.stream}];
    sum_ns += slice.dur_ns;
    ++count;
  });
  for (StepAnchor& anchor : anchors) {
    std::int64_t longest_ns = -1;
    for (const auto& [key, amount] : ranges) {
      if (key.first != anchor.name || amount.first <= longest_ns) continue;
      longest_ns = amount.first;
      anchor.stream = key.second;
      anchor.count = amount.second;
    }
  }
}

}  // namespace

std::optional<StepAnchor> find_steps(const Recording& recording, const std::vector<StepRule>& rules) {
  for (const StepRule& rule : rules) {
    std::vector<StepAnchor> anchors = candidates(recording, rule);
    if (anchors.empty()) continue;
    if (rule.kind != Kind::kKernel) keep_longest_stream(recording, anchors);
    return *std::max_element(anchors.begin(), anchors.end(),
                             [](const StepAnchor& a, const StepAnchor& b) { return a.count < b.count; });
  }
  return std::nullopt;
}

std::string describe(const Recording& recording, const StepAnchor& anchor) {
  return fmt::format("{} {}", word_of(anchor.kind), recording.names()[anchor.name].text);
}

std::vector<Step> cut_steps(const Recording& recording, const StepAnchor& anchor) {
  std::vector<Step> marks;
  if (anchor.kind == Kind::kKernel) {
    recording.for_each_work([&](const Slice& slice) {
      if (slice.name == anchor.name) marks.push_back({slice.ts_ns, slice.end_ns()});
    });
  } else {
    recording.for_each_range([&](const Slice& slice) {
      if (slice.name == anchor.name && slice.stream == anchor.stream) marks.push_back({slice.ts_ns, slice.end_ns()});
    });
  }
  std::sort(marks.begin(), marks.end(), [](const Step& a, const Step& b) { return a.begin_ns < b.begin_ns; });
  if (anchor.kind == Kind::kKernel) {
    for (std::size_t i = 0; i + 1 < marks.size(); ++i) marks[i].end_ns = marks[i + 1].begin_ns;
    if (!marks.empty()) marks.pop_back();
    return marks;
  }
  for (std::size_t i = 0; i + 1 < marks.size(); ++i) {
    marks[i].end_ns = std::min(marks[i].end_ns, marks[i + 1].begin_ns);
  }
  return marks;
}

void StepFinder::search(std::int64_t ts_ns) {
  const auto after = std::upper_bound(steps_.begin(), steps_.end(), ts_ns,
                                      [](std::int64_t ts, const Step& step) { return ts < step.begin_ns; });
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  from_ns_ = std::numeric_limits<std::int64_t>::min();
  to_ns_ = after == steps_.end() ? kMost : after->begin_ns;
  step_.reset();
  if (after == steps_.begin()) return;
  const Step& before = *(after - 1);
  if (ts_ns >= before.end_ns) {
    from_ns_ = before.end_ns;
    return;
  }
  from_ns_ = before.begin_ns;
  to_ns_ = std::min(to_ns_, before.end_ns);
  step_ = static_cast<std::size_t>(after - steps_.begin()) - 1;
}

Result<std::vector<Step>> steady_steps(const Recording& recording, const StepAnchor& anchor, std::int64_t skip,
                                       std::int64_t at_least) {
  std::vector<Step> steps = cut_steps(recording, anchor);
  const std::size_t found = steps.size();
  if (anchor.kind != Kind::kKernel && !steps.empty()) steps.pop_back();
  steps.erase(steps.begin(), steps.begin() + std::min(skip, static_cast<std::int64_t>(steps.size())));
  if (static_cast<std::int64_t>(steps.size()) < at_least) {
    return fail(Errc::kInconclusive,
                fmt::format("{} of {} steps are left after the first {} and the last, {} are needed; capture more, or "
                            "lower --skip or --min-steps",
                            steps.size(), found, skip, at_least),
                recording.source);
  }
  return steps;
}

}  // namespace bk::trace
