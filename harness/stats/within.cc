#include "stats/within.h"

#include <algorithm>
#include <cmath>

namespace bk::stats {
namespace {

/// Median distance of two standard normal values: sqrt(2) · 0.6745.
constexpr double kNormalDistance = 0.953873;
/// Pairs of one boot; beyond it every k-th neighbour stands for its own.
constexpr std::size_t kMostPairs = 4096;

double middle_of(std::vector<double>& values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  if (values.size() % 2 == 1) return *at;
  return 0.5 * (*at + *std::max_element(values.begin(), at));
}

void add_distances(const Group& group, std::vector<double>& out) {
  const std::size_t n = group.size();
  const std::size_t stride = 1 + n * n / 2 / kMostPairs;
  for (std::size_t apart = 1; apart < n; apart += stride) {
    for (std::size_t i = 0; i + apart < n; ++i) out.push_back(std::fabs(group[i] - group[i + apart]));
  }
}

double mean_of(const Group& group) {
  double mean = 0;
  for (const double v : group) mean += v / static_cast<double>(group.size());
  return mean;
}

/// x about its group's mean: the only part of it that says anything about a common slope.
std::vector<Group> centred(const std::vector<PairedGroup>& groups) {
  std::vector<Group> out;
  for (const PairedGroup& g : groups) {
    const double mean = mean_of(g.x);
    Group x = g.x;
    for (double& v : x) v -= mean;
    out.push_back(std::move(x));
  }
  return out;
}

double product(const std::vector<Group>& a, const std::vector<Group>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a[i].size(); ++j) sum += a[i][j] * b[i][j];
  }
  return sum;
}

/// Moves values to their residuals about Huber's level, winsorised at `limit` (0: about their mean, whole). Gives how
/// many were left alone, and the level.
std::size_t winsorise(Group& group, double limit, double& level) {
  if (!(limit > 0)) {
    level = mean_of(group);
    for (double& v : group) v -= level;
    return group.size();
  }
  Group copy = group;
  level = middle_of(copy);
  constexpr int kMostSteps = 20;
  for (int step = 0; step < kMostSteps; ++step) {
    double more = 0;
    for (const double v : group) more += std::clamp(v - level, -limit, limit) / static_cast<double>(group.size());
    level += more;
    if (std::fabs(more) < 1e-6 * limit) break;
  }
  std::size_t inside = 0;
  for (double& v : group) {
    inside += std::fabs(v - level) <= limit ? 1 : 0;
    v = std::clamp(v - level, -limit, limit);
  }
  return inside;
}

/// Residuals of a slope about each group's level, winsorised.
struct Winsorised {
  std::vector<Group> rest;
  double untouched = 1;  ///< share

  void take(const std::vector<PairedGroup>& groups, const std::vector<Group>& x, double slope) {
    rest.resize(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
      rest[i] = groups[i].y;
      for (std::size_t j = 0; j < rest[i].size(); ++j) rest[i][j] -= slope * x[i][j];
    }
    const double limit = kFarInScales * pair_scale(rest).value_or(0);
    std::size_t all = 0, inside = 0;
    for (Group& group : rest) {
      double level = 0;
      all += group.size();
      inside += winsorise(group, limit, level);
    }
    untouched = static_cast<double>(inside) / static_cast<double>(all);
  }
};

/// What winsorised residuals say of one value's variance. Source: see within_line().
double winsorised_variance(double squares, double n, double df, double untouched) {
  const double k = 1 + (n - df) / n * (1 - untouched) / untouched;
  return k * k / (untouched * untouched) * squares / df;
}

}  // namespace

std::optional<double> pair_scale(const std::vector<Group>& groups) {
  std::vector<double> distances;
  for (const Group& group : groups) add_distances(group, distances);
  if (distances.empty()) return std::nullopt;
  return middle_of(distances) / kNormalDistance;
}

std::optional<WithinLine> within_line(const std::vector<PairedGroup>& groups) {
  constexpr double kLeastSpread = 1e-4;  // a hundredth of a point of acceptance is rounding, not luck
  constexpr int kMostSteps = 50;
  const std::vector<Group> x = centred(groups);
  WithinLine line;
  line.df = -static_cast<int>(groups.size()) - 1;
  for (const Group& group : x) line.df += static_cast<int>(group.size());
  line.xx = product(x, x);
  if (line.df < 1 || std::sqrt(line.xx / (line.df + 1)) < kLeastSpread) return std::nullopt;
  std::vector<Group> y;
  y.reserve(groups.size());
  for (const PairedGroup& g : groups) y.push_back(g.y);
  line.slope = product(x, y) / line.xx;
  Winsorised residuals;
  for (int step = 0; step < kMostSteps; ++step) {
    residuals.take(groups, x, line.slope);
    const double more = product(x, residuals.rest) / line.xx;
    line.slope += more;
    if (std::fabs(more) <= 1e-6 * std::fabs(line.slope)) break;
  }
  const double n = line.df + 1 + static_cast<double>(groups.size());
  line.variance = winsorised_variance(product(residuals.rest, residuals.rest), n, line.df, residuals.untouched);
  line.rest = std::move(residuals.rest);
  return line;
}

std::optional<RobustMean> robust_mean(const Group& values) {
  if (values.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(values.size());
  RobustMean mean;
  mean.df = static_cast<int>(values.size()) - 1;
  Group rest = values;
  const double inside =
      static_cast<double>(winsorise(rest, kFarInScales * pair_scale({values}).value_or(0), mean.value));
  mean.variance = winsorised_variance(product({rest}, {rest}), n, mean.df, inside / n) / n;
  return mean;
}

}  // namespace bk::stats
