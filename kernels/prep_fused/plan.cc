#include "prep_fused/plan.h"

#include <algorithm>
#include <utility>

#include "prep_fused/prep_fused.h"

namespace bk::kernels {
namespace {

int blocks_for(int tokens, const GroupShape& group) {
  const int entries = tokens / group.ratio;
  return (entries + group.block_size - 1) / group.block_size;
}

std::string refuse_request(const PrepStep& step, std::size_t r, std::span<const GroupShape> groups) {
  const PrepRequest& request = step.requests[r];
  const std::string who = "request " + std::to_string(r);
  if (request.computed < 0) return who + ": fewer than 0 tokens computed";
  if (request.blocks.size() != groups.size()) return who + ": blocks of another number of groups";
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto have = static_cast<int>(request.blocks[g].size());
    const std::string where = who + ", group " + std::to_string(g);
    if (have > groups[g].width) return where + ": more blocks than the table has columns";
    if (have < blocks_for(request.computed + step.query, groups[g]))
      return where + ": the new tokens do not end in the blocks that it has";
    if (std::any_of(request.blocks[g].begin(), request.blocks[g].end(), [](std::int32_t b) { return b < 0; }))
      return where + ": a negative block";
  }
  return {};
}

}  // namespace

bool is_power_of_two(int value) { return value > 0 && (value & (value - 1)) == 0; }

std::string refuse_step(const PrepStep& step, std::span<const GroupShape> groups) {
  if (!is_power_of_two(step.query) || step.query > BK_PREP_MAX_QUERY)
    return "a query of " + std::to_string(step.query) + " tokens is no power of two up to 64";
  if (groups.empty() || groups.size() > BK_PREP_MAX_GROUPS) return "1 to 7 KV groups are needed";
  if (step.padded < 1 || step.padded > BK_PREP_MAX_REQUESTS) return "1 to 256 padded requests are needed";
  if (step.requests.size() > static_cast<std::size_t>(step.padded)) return "more live requests than padded ones";
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!is_power_of_two(groups[g].block_size) || !is_power_of_two(groups[g].ratio) || groups[g].width < 1)
      return "group " + std::to_string(g) + ": block size and ratio must be powers of two";
  }
  for (std::size_t r = 0; r < step.requests.size(); ++r) {
    if (std::string why = refuse_request(step, r, groups); !why.empty()) return why;
  }
  return {};
}

std::vector<std::int32_t> pack_step(const PrepStep& step, std::span<const GroupShape> groups) {
  std::vector<std::int32_t> words = {static_cast<std::int32_t>(step.requests.size())};
  for (int r = 0; r < step.padded; ++r)
    words.push_back(static_cast<std::size_t>(r) < step.requests.size() ? step.requests[r].computed : 0);
  std::vector<std::int32_t> blocks;
  const std::size_t origin = words.size() + groups.size() * static_cast<std::size_t>(step.padded + 1);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (int r = 0; r <= step.padded; ++r) {
      words.push_back(static_cast<std::int32_t>(origin + blocks.size()));
      if (static_cast<std::size_t>(r) >= step.requests.size()) continue;
      const std::vector<std::int32_t>& own = step.requests[r].blocks[g];
      blocks.insert(blocks.end(), own.begin(), own.end());
    }
  }
  words.insert(words.end(), blocks.begin(), blocks.end());
  return words;
}

std::size_t packed_words(int padded, std::span<const GroupShape> groups) {
  const auto rows = static_cast<std::size_t>(padded);
  std::size_t words = 1 + rows + groups.size() * (rows + 1);
  for (const GroupShape& group : groups) words += rows * static_cast<std::size_t>(group.width);
  return words;
}

int group_of_layer(std::span<const GroupShape> groups, const std::string& layer) {
  int found = -1;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (std::count(groups[g].layers.begin(), groups[g].layers.end(), layer) == 0) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(g);
  }
  return found;
}

int probe_blocks(int max_tokens, const GroupShape& group) {
  const int entries = (max_tokens + group.ratio - 1) / group.ratio;
  return (entries + group.block_size - 1) / group.block_size;
}

}  // namespace bk::kernels
