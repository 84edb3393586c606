#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bk::kernels {

/// One request's row of BkMarkovTopk in double, from fp32 base values; w1 and w2 are [v, 256] bf16 bits.
std::vector<double> reference_markov(std::span<const float> base, std::span<const std::int64_t> idx, std::int64_t prev,
                                     std::span<const std::uint16_t> w1, std::span<const std::uint16_t> w2, int v);

/// The indices that BkTopkSelect gives for one row.
std::vector<std::int64_t> reference_topk(std::span<const float> logits, int count);

}  // namespace bk::kernels
