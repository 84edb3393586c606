#pragma once
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace bk::load {

// Intended starts, in nanoseconds after the run's start, in order. Pure: the same arguments give the same times.

/// A closed round: all `count` at once.
[[nodiscard]] std::vector<Nanos> at_once(int count);
/// Evenly spread over `window`: i * window / count.
[[nodiscard]] std::vector<Nanos> staggered(int count, Nanos window);
/// One every 1 / per_second. kUsage unless per_second is positive and finite and count is not negative.
[[nodiscard]] Result<std::vector<Nanos>> constant_arrivals(double per_second, int count);
/// A Poisson process: independent exponential gaps of mean 1 / per_second, the first gap included. Errors as above.
[[nodiscard]] Result<std::vector<Nanos>> poisson_arrivals(double per_second, int count, std::uint64_t seed);

}  // namespace bk::load
