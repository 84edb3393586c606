#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bk::kernels {

/// The shape of one KV group: entries of a block, tokens of an entry, columns of its block table.
struct GroupShape {
  int block_size;
  int ratio;
  int width;
  std::vector<std::string> layers;
};

/// One live request: tokens whose entries are written already, and its blocks in each group.
struct PrepRequest {
  int computed = 0;
  std::vector<std::vector<std::int32_t>> blocks;
};

/// A step as the scheduler knows it. `padded` rows are prepared, requests.size() of them live.
struct PrepStep {
  std::vector<PrepRequest> requests;
  int padded = 0;
  int query = 0;
};

bool is_power_of_two(int value);

/// Why the fused path cannot prepare this step, or empty. Among others: a query that is no power of two, and new tokens
/// that do not end in the last blocks that a request has (what the kernel takes for granted).
std::string refuse_step(const PrepStep& step, std::span<const GroupShape> groups);

/// The words that the kernel reads: live requests; tokens computed of every padded request; for each group, where each
/// request's blocks begin, and the end; the blocks. Only for a step that refuse_step() lets through.
std::vector<std::int32_t> pack_step(const PrepStep& step, std::span<const GroupShape> groups);

/// The most words that pack_step() can return for `padded` requests.
std::size_t packed_words(int padded, std::span<const GroupShape> groups);

/// The group that holds a layer, by membership; -1 when none or several do.
int group_of_layer(std::span<const GroupShape> groups, const std::string& layer);

/// Blocks that a probe has to give each request so that no side reads past them: all of a full sequence.
int probe_blocks(int max_tokens, const GroupShape& group);

}  // namespace bk::kernels
