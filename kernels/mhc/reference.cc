#include "mhc/reference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "common/number_formats.h"

namespace bk::kernels {
namespace {

constexpr double kEps = 1e-6;
constexpr int kStreams = 4;

double sigmoid(double value) { return 1 / (1 + std::exp(-value)); }

std::vector<double> widen(std::span<const std::uint16_t> bits) {
  std::vector<double> out;
  for (const std::uint16_t value : bits) out.push_back(static_cast<double>(from_bf16(value)));
  return out;
}

void divide_rows(std::vector<double>& m) {
  for (std::size_t j = 0; j < kStreams; ++j) {
    const double sum = m[j * 4] + m[j * 4 + 1] + m[j * 4 + 2] + m[j * 4 + 3];
    for (std::size_t k = 0; k < kStreams; ++k) m[j * 4 + k] /= sum + kEps;
  }
}

void divide_columns(std::vector<double>& m) {
  for (std::size_t k = 0; k < kStreams; ++k) {
    const double sum = m[k] + m[4 + k] + m[8 + k] + m[12 + k];
    for (std::size_t j = 0; j < kStreams; ++j) m[j * 4 + k] /= sum + kEps;
  }
}

std::vector<double> sinkhorn(std::vector<double> m) {
  for (std::size_t j = 0; j < kStreams; ++j) {
    const double top = *std::max_element(m.begin() + j * 4, m.begin() + j * 4 + 4);
    double sum = 0;
    for (std::size_t k = 0; k < kStreams; ++k) sum += std::exp(m[j * 4 + k] - top);
    for (std::size_t k = 0; k < kStreams; ++k) m[j * 4 + k] = std::exp(m[j * 4 + k] - top) / sum + kEps;
  }
  divide_columns(m);
  for (int round = 1; round < 20; ++round) {
    divide_rows(m);
    divide_columns(m);
  }
  return m;
}

}  // namespace

MhcToken reference_mhc_pre(std::span<const std::uint16_t> x, std::span<const float> fn, std::span<const float> scale,
                           std::span<const float> base, std::span<const std::uint16_t> norm) {
  const std::vector<double> wide = widen(x);
  const std::size_t h = x.size() / kStreams;
  double squares = 0;
  for (const double value : wide) squares += value * value;
  const double shrink = 1 / std::sqrt(squares / static_cast<double>(x.size()) + kEps);
  std::vector<double> mix(24, 0.0);
  for (std::size_t o = 0; o < mix.size(); ++o) {
    for (std::size_t i = 0; i < x.size(); ++i) mix[o] += wide[i] * static_cast<double>(fn[o * x.size() + i]);
    const std::size_t part = o < 4 ? 0 : o < 8 ? 1 : 2;
    mix[o] = mix[o] * shrink * static_cast<double>(scale[part]) + static_cast<double>(base[o]);
  }
  MhcToken out;
  for (std::size_t j = 0; j < kStreams; ++j) {
    out.pre.push_back(sigmoid(mix[j]) + kEps);
    out.post.push_back(2 * sigmoid(mix[4 + j]));
  }
  out.comb = sinkhorn({mix.begin() + 8, mix.end()});
  out.layer_in.assign(h, 0.0);
  double power = 0;
  for (std::size_t i = 0; i < h; ++i) {
    for (std::size_t j = 0; j < kStreams; ++j) out.layer_in[i] += out.pre[j] * wide[j * h + i];
    power += out.layer_in[i] * out.layer_in[i];
  }
  const double even = 1 / std::sqrt(power / static_cast<double>(h) + kEps);
  for (std::size_t i = 0; i < norm.size(); ++i) out.layer_in[i] *= even * static_cast<double>(from_bf16(norm[i]));
  return out;
}

std::vector<double> reference_mhc_post(std::span<const std::uint16_t> x, std::span<const std::uint16_t> y,
                                       std::span<const float> post, std::span<const float> comb) {
  const std::size_t h = y.size();
  std::vector<double> out(x.size());
  for (std::size_t k = 0; k < kStreams; ++k) {
    for (std::size_t i = 0; i < h; ++i) {
      double sum = static_cast<double>(post[k]) * static_cast<double>(from_bf16(y[i]));
      for (std::size_t j = 0; j < kStreams; ++j)
        sum += static_cast<double>(comb[j * 4 + k]) * static_cast<double>(from_bf16(x[j * h + i]));
      out[k * h + i] = sum;
    }
  }
  return out;
}

std::vector<double> reference_mhc_head(std::span<const std::uint16_t> x, std::span<const float> fn, float scale,
                                       std::span<const float> base) {
  const std::vector<double> wide = widen(x);
  const std::size_t h = x.size() / kStreams;
  double squares = 0;
  for (const double value : wide) squares += value * value;
  const double shrink = 1 / std::sqrt(squares / static_cast<double>(x.size()) + kEps);
  std::vector<double> out(h, 0.0);
  for (std::size_t j = 0; j < kStreams; ++j) {
    double mix = 0;
    for (std::size_t i = 0; i < x.size(); ++i) mix += wide[i] * static_cast<double>(fn[j * x.size() + i]);
    const double pre = sigmoid(mix * shrink * static_cast<double>(scale) + static_cast<double>(base[j])) + kEps;
    for (std::size_t i = 0; i < h; ++i) out[i] += pre * wide[j * h + i];
  }
  return out;
}

}  // namespace bk::kernels
