#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/groups.h"
#include "trace/recording.h"

namespace bk::trace {

/// What happens once a step in a recording.
struct StepAnchor {
  Kind kind = Kind::kKernel;
  std::uint32_t name = 0;    ///< index into the recording's names
  std::uint64_t count = 0;   ///< how often: the number of steps
  std::uint32_t stream = 0;  ///< of an annotation: the stream whose ranges are the steps
};

/// Applies the rules in their order: the first that matches any name counts, and of its names the most frequent (the
/// first in the file among equals). torch writes a range once for each stream that was busy in it, so that ranges count
/// on one stream alone: the one on which they are longest. Nothing when no rule matches.
[[nodiscard]] std::optional<StepAnchor> find_steps(const Recording& recording, const std::vector<StepRule>& rules);
/// "kernel NAME" or "gpu_annotation NAME".
[[nodiscard]] std::string describe(const Recording& recording, const StepAnchor& anchor);

struct Step {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Steps in time. Anchored by a kernel: from one launch to the next, so that the last, which has no end, is left out.
/// By an annotation: its ranges.
[[nodiscard]] std::vector<Step> cut_steps(const Recording& recording, const StepAnchor& anchor);

/// In which step a time lies. Neighbours in a trace mostly share their step, or the stretch between two, so that the
/// last one is kept. The steps, which outlive it, are sorted and do not overlap.
class StepFinder {
 public:
  explicit StepFinder(const std::vector<Step>& steps) : steps_(steps) {}
  /// The step's index, or nothing between steps.
  std::optional<std::size_t> find(std::int64_t ts_ns) {
    if (ts_ns < from_ns_ || ts_ns >= to_ns_) search(ts_ns);
    return step_;
  }

 private:
  void search(std::int64_t ts_ns);
  const std::vector<Step>& steps_;
  std::int64_t from_ns_ = 0, to_ns_ = 0;  // of the stretch that was found last
  std::optional<std::size_t> step_;
};

/// Steps that medians are taken over: without the first `skip` and, of annotated ones, the last too. kInconclusive when
/// fewer than `at_least` are left, saying how many there are.
[[nodiscard]] Result<std::vector<Step>> steady_steps(const Recording& recording, const StepAnchor& anchor,
                                                     std::int64_t skip, std::int64_t at_least);

}  // namespace bk::trace
