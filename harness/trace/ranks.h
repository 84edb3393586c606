#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/groups.h"
#include "trace/recording.h"

namespace bk::trace {

/// Who waits for whom among ranks that run the same collectives. The n-th collective of one rank is the n-th of every
/// other; the rank that is in it for the shortest time came last, and the others waited for it by as much as they were
/// in it for longer. Durations alone are compared: the ranks' clocks need not agree.
struct Ranks {
  struct Rank {
    std::string source;
    std::uint64_t kernels = 0;
    double kernel_us = 0;
    std::uint64_t collectives = 0;
    double collective_us = 0;
    std::uint64_t last = 0;             ///< collectives that this rank came last to
    double waited_us = 0;               ///< for others
    std::vector<double> waited_for_us;  ///< by rank
  };
  std::vector<Rank> ranks;
  std::uint64_t compared = 0;  ///< collectives, without those that were left out
  /// The rank that the others waited for longest; nothing when no collective could be compared, or nobody waited.
  std::optional<std::size_t> straggler;
  std::string reason;  ///< why there is no straggler; empty otherwise
};

/// Collectives are the kernels that the rules call allreduce, else those of the group comms. The first `skip` of each
/// rank are left out: captures do not begin at one moment, and a rank that began early waits in its first one for all
/// of that.
[[nodiscard]] Ranks compare_ranks(const std::vector<Recording>& recordings, const Rules& rules, std::size_t skip);

}  // namespace bk::trace
