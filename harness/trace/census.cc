#include "trace/census.h"

#include <algorithm>
#include <map>
#include <regex>

#include "trace/intervals.h"

namespace bk::trace {
namespace {

/// Launches and time of each name within the steps that annotations mark.
std::vector<Amount> amounts_inside(const Recording& recording, const std::vector<Step>& steps) {
  std::vector<Amount> amounts(recording.names().size());
  StepFinder finder(steps);
  recording.for_each_work([&](const Slice& slice) {
    if (finder.find(slice.ts_ns)) amounts[slice.name].add(1, slice.dur_ns);
  });
  return amounts;
}

std::vector<Amount> amounts_of(const Recording& recording) {
  std::vector<Amount> amounts;
  amounts.reserve(recording.names().size());
  for (const Name& name : recording.names()) amounts.push_back({name.count, name.sum_ns});
  return amounts;
}

void count_name(Census& census, const Rules& rules, std::vector<Amount>& by_group, const Name& name,
                const Amount& amount) {
  if (amount.count == 0) return;
  const std::size_t group = rules.group_of(name.text, name.category);
  const bool ours = rules.is_ours(name.text);
  by_group[group].add(amount.count, amount.sum_ns);
  (ours ? census.ours : census.image).add(amount.count, amount.sum_ns);
  census.counted.add(amount.count, amount.sum_ns);
  census.names.push_back({name.text, rules.groups[group].name, ours, amount});
}

void sort_rows(Census& census) {
  std::stable_sort(census.groups.begin(), census.groups.end(),
                   [](const auto& a, const auto& b) { return a.amount.sum_ns > b.amount.sum_ns; });
  std::stable_sort(census.names.begin(), census.names.end(), [](const auto& a, const auto& b) {
    return a.amount.count != b.amount.count ? a.amount.count > b.amount.count : a.amount.sum_ns > b.amount.sum_ns;
  });
}

}  // namespace

Census take_census(const Recording& recording, const Rules& rules, const std::optional<StepRule>& step) {
  Census census;
  census.kernels = {recording.count_of(Kind::kKernel), recording.sum_of(Kind::kKernel)};
  census.memops = {recording.count_of(Kind::kMemop), recording.sum_of(Kind::kMemop)};
  census.anchor = find_steps(recording, step ? std::vector<StepRule>{*step} : rules.steps);
  std::vector<Amount> amounts;
  if (census.anchor && census.anchor->kind != Kind::kKernel) {
    amounts = amounts_inside(recording, cut_steps(recording, *census.anchor));
  } else {
    amounts = amounts_of(recording);
  }
  if (census.anchor) {
    census.steps = census.anchor->count;
    census.anchor_text = describe(recording, *census.anchor);
  }
  std::vector<Amount> by_group(rules.groups.size());
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    const Name& name = recording.names()[i];
    if (name.kind == Kind::kKernel) count_name(census, rules, by_group, name, amounts[i]);
  }
  census.outside = {census.kernels.count - census.counted.count, census.kernels.sum_ns - census.counted.sum_ns};
  for (std::size_t i = 0; i < by_group.size(); ++i) {
    if (by_group[i].count > 0) census.groups.push_back({rules.groups[i].name, by_group[i]});
  }
  sort_rows(census);
  return census;
}

namespace {

struct Followed {
  std::uint64_t count = 0;
  std::vector<double> gaps_us;
};

/// Never goes back: by default libstdc++ takes hours for some short expressions.
constexpr auto kSteady = std::regex_constants::__polynomial;

/// Names that the expression finds. A name's start has to do, which bounds the time.
Result<std::vector<bool>> names_found(const Recording& recording, const std::string& regex) {
  constexpr std::size_t kLongestName = 2000;
  std::vector<bool> found(recording.names().size());
  try {
    const std::regex expression(regex, std::regex::ECMAScript | std::regex::icase | kSteady);
    for (std::size_t i = 0; i < found.size(); ++i) {
      found[i] = std::regex_search(recording.names()[i].text.substr(0, kLongestName), expression);
    }
  } catch (const std::regex_error& error) {
    return fail(Errc::kUsage, std::string("not a regular expression that can be used: ") + error.what(),
                "--after " + regex);
  }
  return found;
}

}  // namespace

Result<std::vector<Follower>> followers(const Recording& recording, const std::string& regex, int depth) {
  BK_ASSIGN(const std::vector<bool> found, names_found(recording, regex));
  std::vector<std::vector<Slice>> streams(recording.streams().size());
  for (const Slice& slice : recording.sorted({Kind::kKernel})) streams[slice.stream].push_back(slice);
  std::map<std::pair<int, std::uint32_t>, Followed> followed;
  for (const auto& stream : streams) {
    for (std::size_t i = 0; i < stream.size(); ++i) {
      if (!found[stream[i].name]) continue;
      for (int d = 1; d <= depth && i + d < stream.size(); ++d) {
        Followed& entry = followed[{d, stream[i + d].name}];
        ++entry.count;
        entry.gaps_us.push_back(static_cast<double>(stream[i + d].ts_ns - stream[i + d - 1].end_ns()) / 1e3);
      }
    }
  }
  std::vector<Follower> rows;
  rows.reserve(followed.size());
  for (auto& [key, entry] : followed) {
    rows.push_back({key.first, recording.names()[key.second].text, entry.count, median(std::move(entry.gaps_us))});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Follower& a, const Follower& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.count > b.count;
  });
  return rows;
}

}  // namespace bk::trace
