#include "load/pacing.h"

#include <algorithm>
#include <cmath>

#include "load/random.h"

namespace bk::load {
namespace {

Status check_rate(double per_second, int count) {
  if (!std::isfinite(per_second) || per_second <= 0) {
    return fail(Errc::kUsage, "a request rate must be a positive number of requests per second");
  }
  if (count < 0) return fail(Errc::kUsage, "a number of requests cannot be negative");
  return {};
}

}  // namespace

std::vector<Nanos> at_once(int count) { return std::vector<Nanos>(static_cast<std::size_t>(std::max(count, 0)), 0); }

std::vector<Nanos> staggered(int count, Nanos window) {
  std::vector<Nanos> starts = at_once(count);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    starts[i] = static_cast<Nanos>(static_cast<double>(window) * static_cast<double>(i) / count);
  }
  return starts;
}

Result<std::vector<Nanos>> constant_arrivals(double per_second, int count) {
  BK_TRY(check_rate(per_second, count));
  std::vector<Nanos> starts = at_once(count);
  for (std::size_t i = 0; i < starts.size(); ++i) starts[i] = from_s(static_cast<double>(i) / per_second);
  return starts;
}

Result<std::vector<Nanos>> poisson_arrivals(double per_second, int count, std::uint64_t seed) {
  BK_TRY(check_rate(per_second, count));
  Random random(seed);
  std::vector<Nanos> starts = at_once(count);
  double at_s = 0;
  for (Nanos& start : starts) {
    at_s -= std::log1p(-random.uniform()) / per_second;
    start = from_s(at_s);
  }
  return starts;
}

}  // namespace bk::load
