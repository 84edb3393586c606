#pragma once
#include <cstdint>

namespace bk::load {

/// SplitMix64: the same numbers for the same seed on every machine and library, which std:: distributions do not
/// promise. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  [[nodiscard]] std::uint64_t next();
  /// Uniform in [0, bound), without bias; 0 when bound is 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);
  /// Uniform in [0, 1), 53 bits.
  [[nodiscard]] double uniform();

 private:
  std::uint64_t state_;
};

}  // namespace bk::load
