#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bk::kernels {

/// Which layers compute their own top-k and which reuse the one before. Only layers of ratio 4 count; `freq` of them
/// share one, the first computes. Off (feature unset, or no ratios) makes all compute; so do slots past the layers.
class IndexCache {
 public:
  IndexCache(const std::vector<int>& ratios, int freq, bool on);
  bool reuses(int layer) const;

 private:
  std::vector<bool> reuses_;
};

/// New tokens up to which a step counts as decode: drafts of a parallel drafter are verified and made in one.
int decode_threshold(int drafts, bool parallel_drafting, bool upstream);

/// What each token of a decode row may see, in compressed entries: (seq_len - len + j + 1) / ratio.
std::vector<int> flattened_lengths(std::span<const int> seq_lens, std::span<const int> lens, int ratio);

struct PrefillRequest {
  int queries;
  int entries;  ///< Compressed.
};

/// Requests [first, last), and of a lone one its queries [query_begin, query_end).
struct Chunk {
  int first;
  int last;
  int query_begin;
  int query_end;
};

/// Entries of the gather workspace for a context of max_len tokens, in the unit of PrefillRequest::entries.
int workspace_entries(int max_len, int ratio);

/// Whole requests together while their entries fit the workspace and queries * entries fit logit_bytes / 4; a lone
/// request that does not is cut along its queries.
std::vector<Chunk> plan_chunks(std::span<const PrefillRequest> requests, int workspace, std::int64_t logit_bytes);

struct Rows {
  int begin;
  int end;
  bool operator==(const Rows&) const = default;
};

/// The rows that a rank scores: decode rows and chunks under 256 rows on every rank, of the others its share;
/// neighbours merged. Nothing where it does not pay: off, one rank, or no chunk to share.
std::optional<std::vector<Rows>> rank_rows(int ranks, int rank, int decode_rows, std::span<const Rows> chunks, bool on);

/// Rows of scores that are made at a time: a power of two of at least 512; 0 asks for the default, 32768.
int supertile_rows(int asked);

enum class LayerKind { kWindow, kCompressed4, kCompressed128 };
/// Of a compression ratio (0 counts as 1); nothing for one that no layer has.
std::optional<LayerKind> layer_kind(int ratio);

}  // namespace bk::kernels
