#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "moe_gate/moe_gate.h"

namespace bk::kernels {

/// logits[m, n] = x w^T in double; x and w are bf16 bits, rows of x are x_stride apart.
std::vector<double> reference_logits(std::span<const std::uint16_t> x, std::span<const std::uint16_t> w, int m, int n,
                                     int k, int x_stride);

struct Routed {
  std::vector<int> ids;         ///< Best first.
  std::vector<double> weights;  ///< One for each id.
};

/// One token's route in double. An empty bias means none; renormalise and scale as in BkMoeRoute.
Routed reference_route(std::span<const double> logits, std::span<const float> bias, int scoring, int top_k,
                       bool renormalise, double scale);

}  // namespace bk::kernels
