#include "markov_topk/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/number_formats.h"

namespace bk::kernels {

constexpr int kMarkovRank = 256;

std::vector<double> reference_markov(std::span<const float> base, std::span<const std::int64_t> idx, std::int64_t prev,
                                     std::span<const std::uint16_t> w1, std::span<const std::uint16_t> w2, int v) {
  std::vector<double> out(static_cast<std::size_t>(v), -std::numeric_limits<double>::infinity());
  for (std::size_t j = 0; j < idx.size(); ++j) {
    if (idx[j] < 0 || idx[j] >= v) continue;
    double sum = static_cast<double>(base[j]);
    for (int i = 0; i < kMarkovRank; ++i) {
      sum += static_cast<double>(from_bf16(w2[static_cast<std::size_t>(idx[j] * kMarkovRank + i)])) *
             static_cast<double>(from_bf16(w1[static_cast<std::size_t>(prev * kMarkovRank + i)]));
    }
    out[static_cast<std::size_t>(idx[j])] = sum;
  }
  return out;
}

std::vector<std::int64_t> reference_topk(std::span<const float> logits, int count) {
  std::vector<std::int64_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const float left = logits[static_cast<std::size_t>(a)];
    const float right = logits[static_cast<std::size_t>(b)];
    if (std::isnan(left) || std::isnan(right)) return !std::isnan(left) && std::isnan(right);
    return left > right;
  });
  order.resize(static_cast<std::size_t>(count));
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace bk::kernels
