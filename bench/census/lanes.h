#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bk::census {

/// Part of a track's time.
struct Span {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// A lane for each span, from 0 on, so that two spans of one lane are apart, or one lies within the other. Most tracks
/// need one lane only.
[[nodiscard]] std::vector<std::size_t> nested_lanes(const std::vector<Span>& spans);

}  // namespace bk::census
