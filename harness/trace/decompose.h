#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "trace/groups.h"
#include "trace/recording.h"

namespace bk::trace {

/// A whole capture by group: kernels and copies.
struct Decomposition {
  struct Row {
    std::string name, group;
    std::uint64_t count = 0;
    double ms = 0, share_pct = 0;  ///< of the sum
  };
  std::string source;
  std::uint64_t left_out = 0;        ///< kernels and copies without a start or a duration
  double wall_ms = 0;                ///< last end less first start
  double busy_ms = 0;                ///< union over all streams
  double idle_ms = 0;                ///< wall less busy
  double sum_ms = 0;                 ///< more than busy: streams overlap
  std::vector<Row> groups, kernels;  ///< most time first
  [[nodiscard]] double busy_pct() const { return wall_ms > 0 ? 100 * busy_ms / wall_ms : 0; }
};
[[nodiscard]] Decomposition decompose(const Recording& recording, const Rules& rules);

}  // namespace bk::trace
