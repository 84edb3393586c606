#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/steps.h"

namespace bk::trace {

struct StepOptions {
  std::optional<StepRule> step;  ///< replaces the rules' own
  std::int64_t skip = 5;         ///< first steps that are left out
  std::int64_t min_steps = 8;    ///< fewer give no answer
};

/// What one step holds. Kernels and copies belong to the step in which they start.
struct StepParts {
  double span_us = 0;
  double idle_us = 0;            ///< span less the union over all streams of what ran in it
  double overlap_us = 0;         ///< summed durations less their union
  std::vector<double> group_us;  ///< by the rules' groups
  std::vector<double> group_count;
  std::vector<std::int64_t> allreduce_ns;
};

/// One part of a step (forward, tail, or the whole), as medians over steps.
struct GroupMedian {
  std::string group;
  double us = 0;
  double count = 0;
};

struct Composition {
  std::string anchor;
  std::size_t steps = 0;
  double span_us = 0, idle_us = 0, overlap_us = 0;  ///< medians
  std::vector<GroupMedian> groups;                  ///< most time first; empty ones left out
  struct AllReduce {
    std::size_t count = 0;
    double p10_us = 0, p50_us = 0, p90_us = 0, max_us = 0;  ///< nearest rank, over all steps
  };
  std::optional<AllReduce> allreduce;  ///< nothing when no collective matched
};

/// Medians per step. kInconclusive without a step rule that matches, or with too few steps.
[[nodiscard]] Result<Composition> compose(const Recording& recording, const Rules& rules, const StepOptions& options);

/// Every step is cut after the end of its last kernel of the rules' forward_end group: the forward pass, and the tail
/// (head, sampler, drafter). Steps without such a kernel are left out.
struct Tail {
  std::string anchor;
  std::size_t steps = 0;
  double forward_us = 0, tail_us = 0;  ///< medians of the two spans
  double tail_busy_pct = 0;            ///< median of the tail's union over its span, in percent
  std::vector<GroupMedian> groups;     ///< of the tail
  std::vector<GroupMedian> kernels;    ///< of the tail, by name
};
[[nodiscard]] Result<Tail> split_tail(const Recording& recording, const Rules& rules, const StepOptions& options);

/// The group of every name, for many lookups.
[[nodiscard]] std::vector<std::size_t> groups_of_names(const Recording& recording, const Rules& rules);
/// Part of [begin, end) that at least one of the slices covers; slices are sorted by start.
[[nodiscard]] std::int64_t covered_ns(const std::vector<Slice>& sorted, std::int64_t begin, std::int64_t end);

}  // namespace bk::trace
