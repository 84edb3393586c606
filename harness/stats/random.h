#pragma once
#include <cmath>
#include <cstdint>

namespace bk::stats {

/// One stream a seed, the same numbers with every standard library.
/// Source: SplitMix64, Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  [[nodiscard]] std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  [[nodiscard]] double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  ///< [0, 1)
  /// Standard normal, Box-Muller.
  [[nodiscard]] double normal() {
    if (spare_ready_) {
      spare_ready_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2 * std::log(1 - uniform())), angle = 2 * M_PI * uniform();
    spare_ = radius * std::sin(angle);
    spare_ready_ = true;
    return radius * std::cos(angle);
  }
  /// 0 … n - 1
  [[nodiscard]] int below(int n) { return static_cast<int>(uniform() * n); }

 private:
  std::uint64_t state_;
  double spare_ = 0;
  bool spare_ready_ = false;
};

}  // namespace bk::stats
