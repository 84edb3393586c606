#include "load/random.h"

namespace bk::load {

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::uint64_t Random::below(std::uint64_t bound) {
  if (bound == 0) return 0;
  const std::uint64_t rest = (0 - bound) % bound;  // 2^64 mod bound: below it a draw would favour small results
  std::uint64_t draw = next();
  while (draw < rest) draw = next();
  return draw % bound;
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

}  // namespace bk::load
