#include "moe_gate/reference.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/number_formats.h"

namespace bk::kernels {
namespace {

std::vector<double> softmax(std::span<const double> logits) {
  const double top = *std::max_element(logits.begin(), logits.end());
  std::vector<double> out(logits.size());
  double sum = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = std::exp(logits[i] - top);
    sum += out[i];
  }
  for (double& value : out) value /= sum;
  return out;
}

std::vector<double> scores_of(std::span<const double> logits, int scoring) {
  if (scoring == BK_MOE_SOFTMAX) return softmax(logits);
  std::vector<double> out(logits.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double x = logits[i];
    out[i] = scoring == BK_MOE_SIGMOID ? 1 / (1 + std::exp(-x))
                                       : std::sqrt(std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))));
  }
  return out;
}

}  // namespace

std::vector<double> reference_logits(std::span<const std::uint16_t> x, std::span<const std::uint16_t> w, int m, int n,
                                     int k, int x_stride) {
  std::vector<double> out(static_cast<std::size_t>(m) * n);
  for (int token = 0; token < m; ++token) {
    for (int expert = 0; expert < n; ++expert) {
      double sum = 0;
      for (int i = 0; i < k; ++i) {
        sum += static_cast<double>(from_bf16(x[static_cast<std::size_t>(token) * x_stride + i])) *
               static_cast<double>(from_bf16(w[static_cast<std::size_t>(expert) * k + i]));
      }
      out[static_cast<std::size_t>(token) * n + expert] = sum;
    }
  }
  return out;
}

Routed reference_route(std::span<const double> logits, std::span<const float> bias, int scoring, int top_k,
                       bool renormalise, double scale) {
  const std::vector<double> scores = scores_of(logits, scoring);
  const auto choice = [&](int id) {
    const double value = bias.empty() ? scores[id] : scores[id] + static_cast<double>(bias[id]);
    return std::isnan(value) ? -HUGE_VAL : value;
  };
  const auto before = [&](int a, int b) {
    if (std::isnan(scores[a]) != std::isnan(scores[b])) return std::isnan(scores[b]);
    return choice(a) > choice(b) || (choice(a) == choice(b) && a < b);
  };
  std::vector<int> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + top_k, order.end(), before);
  Routed out;
  double sum = 0;
  for (int i = 0; i < top_k; ++i) {
    out.ids.push_back(order[i]);
    out.weights.push_back(scores[order[i]]);
    sum += scores[order[i]];
  }
  for (double& weight : out.weights) weight = (renormalise ? weight / sum : weight) * scale;
  return out;
}

}  // namespace bk::kernels
