#include "trace/gaps.h"

#include <algorithm>
#include <map>
#include <utility>

#include "trace/intervals.h"

namespace bk::trace {
namespace {

constexpr std::int64_t kSmallestGap = 50;
constexpr std::size_t kRows = 12;
constexpr std::size_t kOthers = 5;

double us(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

struct Gap {
  std::uint32_t previous = 0, next = 0;
  Interval at;
  [[nodiscard]] std::int64_t ns() const { return at.end - at.begin; }
};

std::uint32_t main_stream_of(const std::vector<Slice>& slices, std::size_t streams) {
  std::vector<std::int64_t> sums(streams);
  for (const Slice& slice : slices) sums[slice.stream] += slice.dur_ns;
  return static_cast<std::uint32_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
}

std::vector<Gap> gaps_on(const std::vector<Slice>& slices, std::uint32_t stream) {
  std::vector<Gap> gaps;
  const Slice* previous = nullptr;  // of those so far, the one that ends last: kernels of a stream may overlap
  for (const Slice& slice : slices) {
    if (slice.stream != stream) continue;
    if (previous != nullptr && slice.ts_ns - previous->end_ns() > kSmallestGap) {
      gaps.push_back({previous->name, slice.name, {previous->end_ns(), slice.ts_ns}});
    }
    if (previous == nullptr || slice.end_ns() >= previous->end_ns()) previous = &slice;
  }
  return gaps;
}

template <class Row, class Sum>
void keep_largest(std::vector<Row>& rows, std::size_t count, Sum sum) {
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return sum(a) > sum(b); });
  if (rows.size() > count) rows.resize(count);
}

std::vector<Gaps::ByPair> pairs_of(const Recording& recording, const std::vector<Gap>& gaps) {
  std::map<std::pair<std::string, std::string>, std::pair<std::uint64_t, std::int64_t>> sums;
  for (const Gap& gap : gaps) {
    auto& [count, ns] =
        sums[{short_name(recording.names()[gap.previous].text), short_name(recording.names()[gap.next].text)}];
    ++count;
    ns += gap.ns();
  }
  std::vector<Gaps::ByPair> rows;
  rows.reserve(sums.size());
  for (const auto& [pair, sum] : sums) rows.push_back({pair.first, pair.second, sum.first, us(sum.second)});
  keep_largest(rows, kRows, [](const Gaps::ByPair& row) { return row.sum_us; });
  return rows;
}

std::vector<Gaps::ByKernel> kernels_of(const Recording& recording, const std::vector<Slice>& slices) {
  std::vector<std::vector<std::int64_t>> times(recording.names().size());
  for (const Slice& slice : slices) times[slice.name].push_back(slice.dur_ns);
  std::vector<Gaps::ByKernel> rows;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i].empty()) continue;
    std::sort(times[i].begin(), times[i].end());
    Gaps::ByKernel row{recording.names()[i].text, times[i].size(), us(recording.names()[i].sum_ns)};
    const std::vector<double> values(times[i].begin(), times[i].end());
    row.median_us = median(values) / 1e3;
    row.p99_us = us(nearest_rank(times[i], 0.99));
    row.max_us = us(times[i].back());
    row.max_over_median = row.median_us > 0 ? row.max_us / row.median_us : 0;
    rows.push_back(std::move(row));
  }
  keep_largest(rows, kRows, [](const Gaps::ByKernel& row) { return row.sum_us; });
  return rows;
}

Gaps::Largest look_into(const Recording& recording, const std::vector<Slice>& slices, std::uint32_t stream,
                        const Gap& gap) {
  Gaps::Largest row{short_name(recording.names()[gap.previous].text),
                    short_name(recording.names()[gap.next].text),
                    gap.at.begin,
                    us(gap.ns()),
                    0,
                    {}};
  std::map<std::uint32_t, std::int64_t> inside;
  std::int64_t sum = 0;
  for (const Slice& slice : slices) {
    if (slice.ts_ns >= gap.at.end) break;
    if (slice.stream == stream) continue;
    const std::int64_t ns = std::min(gap.at.end, slice.end_ns()) - std::max(gap.at.begin, slice.ts_ns);
    if (ns <= 0) continue;
    inside[slice.name] += ns;
    sum += ns;
  }
  row.filled_pct = 100.0 * static_cast<double>(sum) / static_cast<double>(gap.ns());
  std::vector<std::pair<std::uint32_t, std::int64_t>> names(inside.begin(), inside.end());
  keep_largest(names, kOthers, [](const auto& entry) { return entry.second; });
  for (const auto& entry : names) row.others.push_back(short_name(recording.names()[entry.first].text));
  return row;
}

}  // namespace

std::string short_name(std::string_view name) {
  std::string text;
  constexpr std::string_view kReturn = "void ", kAnonymous = "(anonymous namespace)";
  if (name.starts_with(kReturn)) name.remove_prefix(kReturn.size());
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (depth == 0 && name.substr(i).starts_with(kAnonymous)) {
      text += "(anonymous)";
      i += kAnonymous.size() - 1;
      continue;
    }
    if (depth == 0 && c == '(' && !text.empty()) break;
    if (c == '<') ++depth;
    if (depth == 0) text += c;
    if (c == '>' && depth > 0) --depth;
  }
  return text.empty() ? std::string(name) : text;
}

Gaps find_gaps(const Recording& recording, std::size_t largest) {
  const std::vector<Slice> slices = recording.sorted({Kind::kKernel});
  Gaps result;
  if (slices.empty()) return result;
  const std::uint32_t stream = main_stream_of(slices, recording.streams().size());
  result.main_stream = recording.streams()[stream].label();
  std::vector<Gap> gaps = gaps_on(slices, stream);
  result.count = gaps.size();
  std::int64_t sum = 0;
  for (const Gap& gap : gaps) sum += gap.ns();
  result.sum_us = us(sum);
  result.pairs = pairs_of(recording, gaps);
  result.kernels = kernels_of(recording, slices);
  keep_largest(gaps, largest, [](const Gap& gap) { return gap.ns(); });
  for (const Gap& gap : gaps) result.largest.push_back(look_into(recording, slices, stream, gap));
  return result;
}

}  // namespace bk::trace
