#include "trace/ranks.h"

#include <fmt/format.h>

#include <algorithm>

namespace bk::trace {
namespace {

double us(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

bool is_collective(const Name& name, const Rules& rules, bool any_allreduce) {
  if (name.kind != Kind::kKernel) return false;
  if (any_allreduce) return rules.is_allreduce(name.text);
  return rules.groups[rules.group_of(name.text, name.category)].name == "comms";
}

bool has_allreduce(const Recording& recording, const Rules& rules) {
  return std::any_of(recording.names().begin(), recording.names().end(),
                     [&](const Name& name) { return name.kind == Kind::kKernel && rules.is_allreduce(name.text); });
}

std::vector<Slice> collectives_of(const Recording& recording, const Rules& rules) {
  const bool any_allreduce = has_allreduce(recording, rules);
  std::vector<bool> wanted;
  wanted.reserve(recording.names().size());
  for (const Name& name : recording.names()) wanted.push_back(is_collective(name, rules, any_allreduce));
  std::vector<Slice> slices = recording.sorted({Kind::kKernel});
  std::erase_if(slices, [&](const Slice& slice) { return !wanted[slice.name]; });
  return slices;
}

/// Why the sequences cannot be matched one to one, or nothing.
std::string mismatch(const std::vector<Recording>& recordings, const std::vector<std::vector<Slice>>& all) {
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (all[r].empty()) return fmt::format("{} has no collective", recordings[r].source);
    if (all[r].size() != all[0].size()) {
      return fmt::format("{} has {} collectives, {} has {}", recordings[0].source, all[0].size(), recordings[r].source,
                         all[r].size());
    }
    for (std::size_t i = 0; i < all[r].size(); ++i) {
      if (recordings[r].names()[all[r][i].name].text != recordings[0].names()[all[0][i].name].text) {
        return fmt::format("collective {} of {} has another name than in {}", i, recordings[r].source,
                           recordings[0].source);
      }
    }
  }
  return "";
}

void compare(Ranks& result, const std::vector<std::vector<Slice>>& all, std::size_t skip) {
  const std::size_t count = all.front().size();
  if (count <= skip) {
    result.reason = fmt::format("of {} collectives the first {} are left out", count, skip);
    return;
  }
  result.compared = count - skip;
  std::vector<std::int64_t> waited(all.size()), caused(all.size());
  std::vector<std::vector<std::int64_t>> waited_for(all.size(), waited);
  for (std::size_t i = skip; i < count; ++i) {
    std::size_t last = 0;
    for (std::size_t r = 1; r < all.size(); ++r) {
      if (all[r][i].dur_ns < all[last][i].dur_ns) last = r;
    }
    ++result.ranks[last].last;
    for (std::size_t r = 0; r < all.size(); ++r) {
      const std::int64_t wait = all[r][i].dur_ns - all[last][i].dur_ns;
      waited[r] += wait;
      waited_for[r][last] += wait;
      caused[last] += wait;
    }
  }
  for (std::size_t r = 0; r < all.size(); ++r) {
    result.ranks[r].waited_us = us(waited[r]);
    std::transform(waited_for[r].begin(), waited_for[r].end(), result.ranks[r].waited_for_us.begin(), us);
  }
  const auto most = std::max_element(caused.begin(), caused.end());
  if (*most == 0) {
    result.reason = "no rank waited for another; is one trace given twice?";
    return;
  }
  result.straggler = static_cast<std::size_t>(most - caused.begin());
}

}  // namespace

Ranks compare_ranks(const std::vector<Recording>& recordings, const Rules& rules, std::size_t skip) {
  Ranks result;
  std::vector<std::vector<Slice>> all;
  for (const Recording& recording : recordings) {
    all.push_back(collectives_of(recording, rules));
    Ranks::Rank rank;
    rank.source = recording.source;
    rank.kernels = recording.count_of(Kind::kKernel);
    rank.kernel_us = us(recording.sum_of(Kind::kKernel));
    rank.collectives = all.back().size();
    std::int64_t sum = 0;
    for (const Slice& slice : all.back()) sum += slice.dur_ns;
    rank.collective_us = us(sum);
    rank.waited_for_us.resize(recordings.size());
    result.ranks.push_back(std::move(rank));
  }
  result.reason = recordings.size() < 2 ? "one rank has nobody to wait for" : mismatch(recordings, all);
  if (result.reason.empty()) compare(result, all, skip);
  return result;
}

}  // namespace bk::trace
