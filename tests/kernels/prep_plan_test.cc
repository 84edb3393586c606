#include <catch2/catch.hpp>

#include "prep_fused/plan.h"
#include "prep_fused/reference.h"

namespace bk::kernels {
namespace {

std::vector<GroupShape> two_groups() {
  return {{4, 1, 4, {"layers.0.attn", "draft.0.attn"}}, {2, 4, 3, {"layers.1.attn"}}};
}

PrepStep small_step() {
  PrepStep step;
  step.requests = {{5, {{10, 11}, {20}}}, {2, {{12}, {21}}}};
  step.padded = 3;
  step.query = 2;
  return step;
}

const std::vector<std::int64_t>& named(const std::vector<PrepTensor>& all, const std::string& name) {
  for (const PrepTensor& tensor : all)
    if (tensor.name == name) return tensor.values;
  FAIL("no tensor " << name);
  return all.front().values;
}

TEST_CASE("the reference prepares a step that can be checked by hand") {
  const std::vector<PrepTensor> all = reference_prep(small_step(), two_groups());
  CHECK(all.size() == 4 + 2 * 6);
  using Values = std::vector<std::int64_t>;
  CHECK(named(all, "positions") == Values{5, 6, 2, 3, 0, 0});
  CHECK(named(all, "seq_lens") == Values{7, 4, 0});
  CHECK(named(all, "query_start") == Values{0, 2, 4, 4});
  CHECK(named(all, "logits_index") == Values{0, 1, 2, 3, -1, -1});
  CHECK(named(all, "group0.block_table") == Values{10, 11, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0});
  CHECK(named(all, "group0.slots") == Values{45, 46, 50, 51, -1, -1});
  CHECK(named(all, "group0.token_seq_lens") == Values{6, 7, 3, 4, 0, 0});
  CHECK(named(all, "group0.token_rows") == Values{0, 0, 1, 1, 0, 0});
  CHECK(named(all, "group0.block_counts") == Values{2, 1, 0});
  CHECK(named(all, "group1.seq_lens") == Values{1, 1, 0});
  CHECK(named(all, "group1.slots") == Values{-1, -1, -1, 42, -1, -1});  // position 3 completes entry 0 of block 21
  CHECK(named(all, "group1.token_seq_lens") == Values{1, 1, 0, 1, 0, 0});
}

TEST_CASE("seven groups make 46 tensors") {
  const std::vector<GroupShape> groups(7, GroupShape{4, 1, 2, {}});
  PrepStep step;
  step.requests = {{0, std::vector<std::vector<std::int32_t>>(7, {3})}};
  step.padded = 1;
  step.query = 1;
  CHECK(refuse_step(step, groups).empty());
  CHECK(reference_prep(step, groups).size() == 46);
}

TEST_CASE("a packed step says where each request's blocks begin and end") {
  const std::vector<std::int32_t> words = pack_step(small_step(), two_groups());
  CHECK(words == std::vector<std::int32_t>{2, 5, 2, 0, 12, 14, 15, 15, 15, 16, 17, 17, 10, 11, 12, 20, 21});
  CHECK(packed_words(3, two_groups()) == 1 + 3 + 2 * 4 + 3 * 4 + 3 * 3);
  CHECK(words.size() <= packed_words(3, two_groups()));
}

TEST_CASE("a step that the kernel could not prepare is refused, with the reason") {
  const std::vector<GroupShape> groups = two_groups();
  REQUIRE(refuse_step(small_step(), groups).empty());
  const auto refused = [&](auto change) {
    PrepStep step = small_step();
    change(step);
    return refuse_step(step, groups);
  };
  CHECK(refused([](PrepStep& s) { s.query = 6; }) == "a query of 6 tokens is no power of two up to 64");
  CHECK(refused([](PrepStep& s) { s.query = 0; }) == "a query of 0 tokens is no power of two up to 64");
  CHECK(refused([](PrepStep& s) { s.query = 128; }) == "a query of 128 tokens is no power of two up to 64");
  CHECK(refused([](PrepStep& s) { s.padded = 1; }) == "more live requests than padded ones");
  CHECK(refused([](PrepStep& s) { s.padded = 0; }) == "1 to 256 padded requests are needed");
  // The new tokens have to end in the blocks that the request has: 8 + 2 tokens need a third block.
  CHECK(refused([](PrepStep& s) { s.requests[0].computed = 8; }) ==
        "request 0, group 0: the new tokens do not end in the blocks that it has");
  CHECK(refused([](PrepStep& s) { s.requests[1].blocks[1] = {}; }) ==
        "request 1, group 1: the new tokens do not end in the blocks that it has");
  CHECK(refused([](PrepStep& s) { s.requests[1].blocks.pop_back(); }) ==
        "request 1: blocks of another number of groups");
  CHECK(refused([](PrepStep& s) {
          s.requests[0].blocks[0] = {1, 2, 3, 4, 5};
        }) == "request 0, group 0: more blocks than the table has columns");
  CHECK(refused([](PrepStep& s) { s.requests[0].blocks[0][1] = -1; }) == "request 0, group 0: a negative block");
  CHECK(refused([](PrepStep& s) { s.requests[0].computed = -1; }) == "request 0: fewer than 0 tokens computed");
  std::vector<GroupShape> odd = two_groups();
  odd[1].block_size = 3;
  CHECK(refuse_step(small_step(), odd) == "group 1: block size and ratio must be powers of two");
  CHECK(refuse_step(small_step(), std::vector<GroupShape>(8)) == "1 to 7 KV groups are needed");
}

TEST_CASE("the drafter's group is found by its layer, not by its place") {
  std::vector<GroupShape> groups = two_groups();
  CHECK(group_of_layer(groups, "draft.0.attn") == 0);
  CHECK(group_of_layer(groups, "layers.1.attn") == 1);
  CHECK(group_of_layer(groups, "draft.1.attn") == -1);
  groups[1].layers.push_back("draft.0.attn");
  CHECK(group_of_layer(groups, "draft.0.attn") == -1);
}

TEST_CASE("a probe's blocks cover a full sequence") {
  CHECK(probe_blocks(430000, {64, 4, 2048, {}}) == 1680);
  CHECK(probe_blocks(1, {64, 128, 16, {}}) == 1);
  CHECK(probe_blocks(65, {64, 1, 16, {}}) == 2);
}

}  // namespace
}  // namespace bk::kernels
