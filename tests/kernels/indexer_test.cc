#include <catch2/catch.hpp>
#include <cmath>

#include "common/number_formats.h"
#include "indexer/plan.h"
#include "indexer/reference.h"
#include "sparse_swa/reference.h"

namespace bk::kernels {
namespace {

TEST_CASE("every freq-th layer of ratio 4 computes, the others reuse; other layers never do") {
  const std::vector<int> ratios = {1, 4, 4, 1, 4, 4, 4, 4, 128, 4};
  const IndexCache cache(ratios, 4, true);
  std::vector<int> reusing;
  for (int layer = 0; layer < 14; ++layer)
    if (cache.reuses(layer)) reusing.push_back(layer);
  CHECK(reusing == std::vector<int>{2, 4, 5, 7, 9});
  CHECK_FALSE(cache.reuses(-1));
  for (const int freq : {1, 2, 3, 4, 7}) CHECK_FALSE(IndexCache(ratios, freq, true).reuses(1));
  CHECK_FALSE(IndexCache(ratios, 1, true).reuses(2));
  CHECK_FALSE(IndexCache(ratios, 4, false).reuses(2));
  CHECK_FALSE(IndexCache({}, 4, true).reuses(2));
  // 21 layers of ratio 4: freq 4 leaves 6 that compute, freq 6 leaves 4.
  for (const auto& [freq, want] : {std::pair{4, 6}, {6, 4}}) {
    const IndexCache all(std::vector<int>(21, 4), freq, true);
    int computing = 0;
    for (int layer = 0; layer < 21; ++layer) computing += all.reuses(layer) ? 0 : 1;
    CHECK(computing == want);
  }
}

TEST_CASE("parallel drafts of the upstream drafter double the decode threshold") {
  CHECK(decode_threshold(5, true, true) == 11);
  CHECK(decode_threshold(5, true, false) == 6);
  CHECK(decode_threshold(5, false, true) == 6);
  CHECK(decode_threshold(0, true, true) == 1);
}

TEST_CASE("each decode token becomes a row with what it may see") {
  CHECK(flattened_lengths(std::vector<int>{10, 7}, std::vector<int>{3, 1}, 4) == std::vector<int>{2, 2, 2, 1});
  CHECK(flattened_lengths(std::vector<int>{10, 7}, std::vector<int>{3, 2}, 1) == std::vector<int>{8, 9, 10, 6, 7});
}

TEST_CASE("chunks stay within both budgets and cover every query once") {
  const std::vector<PrefillRequest> requests = {{100, 400}, {300, 500}, {50, 100}, {4096, 100000}, {10, 20}, {10, 900}};
  const int workspace = 1000;
  const std::int64_t logit_bytes = 4 * 400000;
  const std::vector<Chunk> chunks = plan_chunks(requests, workspace, logit_bytes);
  std::vector<std::vector<int>> covered;
  covered.reserve(requests.size());
  for (const PrefillRequest& request : requests) covered.emplace_back(request.queries, 0);
  for (const Chunk& chunk : chunks) {
    std::int64_t queries = 0, entries = 0;
    for (int r = chunk.first; r < chunk.last; ++r) {
      entries += requests[r].entries;
      const bool lone = chunk.last - chunk.first == 1;
      const int begin = lone ? chunk.query_begin : 0;
      const int end = lone ? chunk.query_end : requests[r].queries;
      queries += end - begin;
      for (int q = begin; q < end; ++q) ++covered[r][q];
    }
    CHECK((queries * entries <= logit_bytes / 4 || queries == 1));
    CHECK((entries <= workspace || chunk.last - chunk.first == 1));
  }
  for (const std::vector<int>& request : covered)
    for (const int times : request) CHECK(times == 1);
  // Each alone fills the workspace: three chunks.
  const std::vector<PrefillRequest> tight(3, {10, 900});
  CHECK(plan_chunks(tight, workspace, logit_bytes).size() == 3);
  // 100K entries by 4096 queries under a budget of 10M logits: pieces of 100 queries.
  const std::vector<PrefillRequest> one = {{4096, 100000}};
  const std::vector<Chunk> pieces = plan_chunks(one, 200000, 40000000);
  CHECK(pieces.size() == 41);
  CHECK(pieces[1].query_begin == 100);
  CHECK(pieces.back().query_end == 4096);
  CHECK(workspace_entries(430000, 4) == 40 * 107500);
}

TEST_CASE("ranks share large chunks, repeat the rest and leave nothing out") {
  const std::vector<Rows> chunks = {{12, 140}, {140, 4236}, {4236, 4801}};
  std::vector<int> times(4801, 0);
  std::vector<std::vector<Rows>> all;
  for (int rank = 0; rank < 4; ++rank) {
    const auto rows = rank_rows(4, rank, 12, chunks, true);
    REQUIRE(rows.has_value());
    all.push_back(*rows);
    for (const Rows& span : *rows)
      for (int row = span.begin; row < span.end; ++row) ++times[row];
  }
  CHECK(all[0] == std::vector<Rows>{{0, 1164}, {4236, 4378}});
  CHECK(all[1] == std::vector<Rows>{{0, 140}, {1164, 2188}, {4378, 4520}});
  CHECK(all[1].size() == 3);
  for (int row = 0; row < 4801; ++row) CHECK(times[row] == (row < 140 ? 4 : 1));
  CHECK_FALSE(rank_rows(4, 0, 12, {}, true).has_value());
  CHECK_FALSE(rank_rows(1, 0, 12, chunks, true).has_value());
  CHECK_FALSE(rank_rows(4, 0, 12, chunks, false).has_value());
}

TEST_CASE("tiles of scores are powers of two; ratios name the kind of a layer") {
  CHECK(supertile_rows(0) == 32768);
  CHECK(supertile_rows(1000) == 1024);
  CHECK(supertile_rows(100) == 512);
  CHECK(layer_kind(0) == LayerKind::kWindow);
  CHECK(layer_kind(1) == LayerKind::kWindow);
  CHECK(layer_kind(4) == LayerKind::kCompressed4);
  CHECK(layer_kind(128) == LayerKind::kCompressed128);
  CHECK_FALSE(layer_kind(8).has_value());
}

TEST_CASE("the reference query rotates neighbours and scales by a power of two") {
  std::vector<std::uint16_t> q(128, 0);
  q[0] = to_bf16(448.0f);
  q[64] = to_bf16(1.0f);
  q[65] = to_bf16(2.0f);
  std::vector<float> quarter(64, 0.0f);
  for (int i = 32; i < 64; ++i) quarter[i] = 1.0f;  // a quarter turn: (a, b) becomes (-b, a)
  const IndexQuery out = reference_index_query(q, 3.0f, quarter);
  CHECK(out.q8[0] == 0x7e);
  CHECK(from_e4m3(out.q8[64]) == -2.0);
  CHECK(from_e4m3(out.q8[65]) == 1.0);
  CHECK(out.weight == Approx(3.0 / std::sqrt(128.0) / 8));
  q[0] = to_bf16(450.0f);
  CHECK(reference_index_query(q, 1.0f, quarter).weight == Approx(2.0 / std::sqrt(128.0) / 8));
}

TEST_CASE("the reference score adds what is positive") {
  std::vector<std::uint8_t> q8(64 * 128, 0), k8(128, 0);
  std::vector<float> weight(64, 0.0f);
  k8[3] = to_e4m3(2.0);
  q8[3] = to_e4m3(5.0);
  q8[128 + 3] = to_e4m3(-7.0);
  weight[0] = 0.5f;
  weight[1] = 100.0f;
  CHECK(reference_index_score(q8, weight, k8, 4.0f) == 20.0);
}

TEST_CASE("windows, draft lists and gather lengths at their edges") {
  const std::vector<std::int32_t> blocks = {7, 3, 9, 5};
  CHECK(reference_swa_decode(blocks, 0).length == 1);
  CHECK(reference_swa_decode(blocks, 0).slots[0] == 7 * 64);
  const SwaList full = reference_swa_decode(blocks, 127);
  CHECK(full.length == 128);
  CHECK(full.slots[127] == 3 * 64 + 63);
  const SwaList slid = reference_swa_decode(blocks, 130);
  CHECK(slid.length == 128);
  CHECK(slid.slots[0] == 7 * 64 + 3);
  CHECK(slid.slots[127] == 9 * 64 + 2);
  const SwaList draft = reference_swa_draft(blocks, 130, 136, 512);
  CHECK(draft.length == 134);
  CHECK(draft.slots[0] == 7 * 64 + 2);
  CHECK(draft.slots[134] == -1);
  CHECK(swa_prefill_length(10, 0) == 10);
  CHECK(swa_prefill_length(10, 127) == 137);
  CHECK(swa_prefill_length(10, 5000) == 137);
}

TEST_CASE("a packed token has 448 bytes, 64 bf16 and seven exponents") {
  std::vector<std::uint16_t> kv(512, 0);
  kv[0] = to_bf16(448.0f);
  kv[64] = to_bf16(900.0f);
  kv[448] = 0x1234;
  const SwaToken token = reference_swa_token(kv);
  CHECK(token.data.size() == 576);
  CHECK(token.scales.size() == 8);
  CHECK(token.scales[0] == 127);
  CHECK(token.scales[1] == 129);  // 900 / 448 is over 2: the scale is 4
  CHECK(token.scales[2] == 127 - 22);
  CHECK(token.scales[7] == 0);
  CHECK(token.data[0] == 0x7e);
  CHECK(from_e4m3(token.data[64]) == 224.0);
  CHECK(token.data[448] == 0x34);
  CHECK(token.data[449] == 0x12);
}

}  // namespace
}  // namespace bk::kernels
