#include "prep_fused/reference.h"

namespace bk::kernels {
namespace {

struct Row {
  const PrepRequest* request;  // null: padding
  int first = 0;               // position of its first new token
};

void add_group(const PrepStep& step, const std::vector<Row>& rows, const GroupShape& group, std::size_t g,
               std::vector<PrepTensor>& out) {
  const std::string name = "group" + std::to_string(g) + ".";
  PrepTensor table{name + "block_table", {}}, slots{name + "slots", {}}, lens{name + "seq_lens", {}};
  PrepTensor token_lens{name + "token_seq_lens", {}}, token_rows{name + "token_rows", {}},
      counts{name + "block_counts", {}};
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const bool live = rows[r].request != nullptr;
    const int end = live ? rows[r].first + step.query : 0;
    for (int c = 0; c < group.width; ++c) {
      const bool listed = live && static_cast<std::size_t>(c) < rows[r].request->blocks[g].size();
      table.values.push_back(listed ? rows[r].request->blocks[g][c] : 0);
    }
    lens.values.push_back(end / group.ratio);
    counts.values.push_back((end / group.ratio + group.block_size - 1) / group.block_size);
    for (int j = 0; j < step.query; ++j) {
      const int position = rows[r].first + j;
      const bool completes = live && (position + 1) % group.ratio == 0;
      const int entry = position / group.ratio;
      std::int64_t slot = -1;
      if (completes) {
        const std::int64_t block = rows[r].request->blocks[g][entry / group.block_size];
        slot = block * group.block_size + entry % group.block_size;
      }
      slots.values.push_back(slot);
      token_lens.values.push_back(live ? (position + 1) / group.ratio : 0);
      token_rows.values.push_back(live ? static_cast<std::int64_t>(r) : 0);
    }
  }
  for (PrepTensor* tensor : {&table, &slots, &lens, &token_lens, &token_rows, &counts})
    out.push_back(std::move(*tensor));
}

}  // namespace

std::vector<PrepTensor> reference_prep(const PrepStep& step, std::span<const GroupShape> groups) {
  std::vector<Row> rows;
  for (int r = 0; r < step.padded; ++r) {
    const bool live = static_cast<std::size_t>(r) < step.requests.size();
    rows.push_back({live ? &step.requests[r] : nullptr, live ? step.requests[r].computed : 0});
  }
  PrepTensor positions{"positions", {}}, lens{"seq_lens", {}}, start{"query_start", {0}}, index{"logits_index", {}};
  for (const Row& row : rows) {
    const bool live = row.request != nullptr;
    lens.values.push_back(live ? row.first + step.query : 0);
    start.values.push_back(start.values.back() + (live ? step.query : 0));
    for (int j = 0; j < step.query; ++j) {
      positions.values.push_back(live ? row.first + j : 0);
      index.values.push_back(live ? static_cast<std::int64_t>(index.values.size()) : -1);
    }
  }
  std::vector<PrepTensor> out = {positions, lens, start, index};
  for (std::size_t g = 0; g < groups.size(); ++g) add_group(step, rows, groups[g], g, out);
  return out;
}

}  // namespace bk::kernels
