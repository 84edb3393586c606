#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bk::kernels {

struct IndexQuery {
  std::vector<std::uint8_t> q8;  ///< [128]
  double weight;
};

/// One head of BkIndexerQuery: q is [128] bf16 bits, cos_sin the position's [64].
IndexQuery reference_index_query(std::span<const std::uint16_t> q, float weight, std::span<const float> cos_sin);

/// One score of BkIndexerScores in double: q8 is [64, 128], weight [64], k8 [128].
double reference_index_score(std::span<const std::uint8_t> q8, std::span<const float> weight,
                             std::span<const std::uint8_t> k8, float k_scale);

}  // namespace bk::kernels
