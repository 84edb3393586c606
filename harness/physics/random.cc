#include "physics/random.h"

#include <cmath>
#include <numbers>

namespace bk::physics {
namespace {

// SplitMix64's finaliser: every input bit reaches every output bit.
std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

std::uint64_t mix(std::initializer_list<std::uint64_t> words) {
  std::uint64_t state = 0x2545f4914f6cdd1dULL;
  for (const std::uint64_t word : words) state = scramble(state ^ scramble(word));
  return state;
}

double uniform(std::uint64_t mixed) { return static_cast<double>(mixed >> 11) * 0x1.0p-53; }

double normal(std::uint64_t mixed) {
  const double u = 1.0 - uniform(scramble(mixed));  // (0, 1]: the logarithm stays finite
  const double v = uniform(scramble(mixed ^ 0xd1b54a32d192ed03ULL));
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

}  // namespace bk::physics
