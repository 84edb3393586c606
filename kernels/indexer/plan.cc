#include "indexer/plan.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace bk::kernels {
namespace {

constexpr int kSharedRows = 256;
constexpr int kIndexedRatio = 4;

bool fits(std::int64_t queries, std::int64_t entries, int workspace, std::int64_t logit_bytes) {
  return entries <= workspace && queries * entries <= logit_bytes / 4;
}

/// Pieces of one request that is too large as a whole.
void cut(std::span<const PrefillRequest> requests, int at, std::int64_t logit_bytes, std::vector<Chunk>& out) {
  const PrefillRequest& request = requests[at];
  const auto rows = static_cast<int>(std::max<std::int64_t>(1, logit_bytes / 4 / std::max(1, request.entries)));
  for (int begin = 0; begin < request.queries; begin += rows)
    out.push_back({at, at + 1, begin, std::min(begin + rows, request.queries)});
}

}  // namespace

IndexCache::IndexCache(const std::vector<int>& ratios, int freq, bool on) {
  int index = 0;
  for (const int ratio : ratios) {
    const bool counts = ratio == kIndexedRatio;
    reuses_.push_back(on && freq > 0 && counts && index % freq != 0);
    index += counts ? 1 : 0;
  }
}

bool IndexCache::reuses(int layer) const {
  return layer >= 0 && static_cast<std::size_t>(layer) < reuses_.size() && reuses_[layer];
}

int decode_threshold(int drafts, bool parallel_drafting, bool upstream) {
  return 1 + (parallel_drafting && upstream ? 2 : 1) * drafts;
}

std::vector<int> flattened_lengths(std::span<const int> seq_lens, std::span<const int> lens, int ratio) {
  std::vector<int> out;
  for (std::size_t r = 0; r < lens.size(); ++r)
    for (int j = 0; j < lens[r]; ++j) out.push_back((seq_lens[r] - lens[r] + j + 1) / ratio);
  return out;
}

int workspace_entries(int max_len, int ratio) { return 40 * (max_len / ratio); }

std::vector<Chunk> plan_chunks(std::span<const PrefillRequest> requests, int workspace, std::int64_t logit_bytes) {
  std::vector<Chunk> out;
  const auto count = static_cast<int>(requests.size());
  for (int first = 0; first < count;) {
    std::int64_t queries = 0;
    std::int64_t entries = 0;
    int last = first;
    while (last < count &&
           fits(queries + requests[last].queries, entries + requests[last].entries, workspace, logit_bytes)) {
      queries += requests[last].queries;
      entries += requests[last].entries;
      ++last;
    }
    if (last == first) {
      cut(requests, first, logit_bytes, out);
      ++first;
      continue;
    }
    out.push_back({first, last, 0, static_cast<int>(queries)});
    first = last;
  }
  return out;
}

std::optional<std::vector<Rows>> rank_rows(int ranks, int rank, int decode_rows, std::span<const Rows> chunks,
                                           bool on) {
  if (!on || ranks <= 1 || chunks.empty()) return std::nullopt;
  std::vector<Rows> spans;
  const auto add = [&](Rows rows) {
    if (rows.begin >= rows.end) return;
    if (!spans.empty() && spans.back().end == rows.begin) {
      spans.back().end = rows.end;
    } else {
      spans.push_back(rows);
    }
  };
  add({0, decode_rows});
  for (const Rows& chunk : chunks) {
    const int rows = chunk.end - chunk.begin;
    if (rows < kSharedRows) {
      add(chunk);
      continue;
    }
    const int share = (rows + ranks - 1) / ranks;
    add({chunk.begin + std::min(rank * share, rows), chunk.begin + std::min((rank + 1) * share, rows)});
  }
  return spans;
}

int supertile_rows(int asked) {
  if (asked <= 0) return 32768;
  return std::max(512, static_cast<int>(std::bit_ceil(static_cast<unsigned>(asked))));
}

std::optional<LayerKind> layer_kind(int ratio) {
  if (ratio == 0 || ratio == 1) return LayerKind::kWindow;
  if (ratio == 4) return LayerKind::kCompressed4;
  if (ratio == 128) return LayerKind::kCompressed128;
  return std::nullopt;
}

}  // namespace bk::kernels
