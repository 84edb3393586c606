#include "trace/steps.h"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

std::optional<StepAnchor> find_steps(const Recording& recording, const std::vector<StepRule>& rules) {
  for (const StepRule& rule : rules) {
    std::optional<StepAnchor> best;
    for (std::size_t i = 0; i < recording.names().size(); ++i) {
      const Name& name = recording.names()[i];
      if (name.kind != rule.kind || !rule.pattern.matches(to_lower(name.text), "")) continue;
      if (!best || name.count > best->count) best = StepAnchor{name.kind, static_cast<std::uint32_t>(i), name.count};
    }
    if (best) return best;
  }
  return std::nullopt;
}

std::string describe(const Recording& recording, const StepAnchor& anchor) {
  return fmt::format("{} {}", word_of(anchor.kind), recording.names()[anchor.name].text);
}

std::vector<Step> cut_steps(const Recording& recording, const StepAnchor& anchor) {
  std::vector<Step> marks;
  recording.for_each([&](const Slice& slice) {
    if (slice.name == anchor.name) marks.push_back({slice.ts_ns, slice.end_ns()});
  });
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

std::optional<std::size_t> step_at(const std::vector<Step>& steps, std::int64_t ts_ns) {
  const auto after = std::upper_bound(steps.begin(), steps.end(), ts_ns,
                                      [](std::int64_t ts, const Step& step) { return ts < step.begin_ns; });
  if (after == steps.begin() || ts_ns >= (after - 1)->end_ns) return std::nullopt;
  return static_cast<std::size_t>(after - steps.begin()) - 1;
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
