#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/groups.h"
#include "trace/steps.h"

namespace bk::trace {

/// How many launches and how much time, over all that was counted.
struct Amount {
  std::uint64_t count = 0;
  std::int64_t sum_ns = 0;
  void add(std::uint64_t more, std::int64_t ns) {
    count += more;
    sum_ns += ns;
  }
};

/// Kernels by group and by name. Counts are exact; times are what the tracer recorded.
struct Census {
  struct ByGroup {
    std::string group;
    Amount amount;
  };
  struct ByName {
    std::string name;
    std::string group;
    bool ours = false;
    Amount amount;
  };
  Amount kernels;  ///< whole trace
  Amount memops;   ///< whole trace: copies and sets
  std::optional<StepAnchor> anchor;
  std::string anchor_text;  ///< empty without an anchor
  std::uint64_t steps = 0;  ///< 0: unknown
  /// Steps that annotations mark hold only what starts inside them; what starts outside is here and not below.
  Amount outside;
  Amount counted;               ///< kernels of all steps: what the groups and names below sum to
  std::vector<ByGroup> groups;  ///< most time first; empty groups left out
  std::vector<ByName> names;    ///< most launches first, then most time
  Amount ours, image;
};

/// Counts a recording. `step` replaces the rules' own step rules.
[[nodiscard]] Census take_census(const Recording& recording, const Rules& rules,
                                 const std::optional<StepRule>& step = std::nullopt);

/// What follows a kernel on its stream.
struct Follower {
  int distance = 0;  ///< 1: the next kernel
  std::string name;
  std::uint64_t count = 0;
  double median_gap_us = 0;  ///< from the end of the kernel before it to its start
};
/// For every kernel whose name the ECMAScript regular expression (case ignored, first 2,000 bytes of a name) finds: the
/// names of the next `depth` kernels on the same stream, most frequent first by distance. kUsage for a bad expression,
/// and one that refers back (\1), whose search may take for ever.
[[nodiscard]] Result<std::vector<Follower>> followers(const Recording& recording, const std::string& regex, int depth);

}  // namespace bk::trace
