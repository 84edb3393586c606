#include "lanes.h"

#include <algorithm>
#include <numeric>

namespace bk::census {
namespace {

/// Whether the span may be put on a lane whose open spans end at `ends`, the innermost last. Closes those that are
/// over.
bool fits(std::vector<std::int64_t>& ends, const Span& span) {
  while (!ends.empty() && ends.back() <= span.begin_ns) ends.pop_back();
  return ends.empty() || span.end_ns <= ends.back();
}

}  // namespace

std::vector<std::size_t> nested_lanes(const std::vector<Span>& spans) {
  std::vector<std::size_t> order(spans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (spans[a].begin_ns != spans[b].begin_ns) return spans[a].begin_ns < spans[b].begin_ns;
    return spans[a].end_ns > spans[b].end_ns;
  });
  std::vector<std::size_t> lanes(spans.size());
  std::vector<std::vector<std::int64_t>> open;
  for (const std::size_t i : order) {
    std::size_t lane = 0;
    while (lane < open.size() && !fits(open[lane], spans[i])) ++lane;
    if (lane == open.size()) open.emplace_back();
    open[lane].push_back(spans[i].end_ns);
    lanes[i] = lane;
  }
  return lanes;
}

}  // namespace bk::census
