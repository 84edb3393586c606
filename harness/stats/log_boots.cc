#include "stats/log_boots.h"

#include <algorithm>
#include <cmath>

#include "stats/student.h"
#include "stats/summary.h"

namespace bk::stats {
namespace {

/// Sums of within-boot deviations of log value (y) and covariate (x) of one arm: what is common to a boot is gone.
struct Within {
  double xx = 0, xy = 0, yy = 0;
  /// Squares that a line of this slope leaves.
  [[nodiscard]] double rest(double slope) const { return std::max(0.0, yy - 2 * slope * xy + slope * slope * xx); }
};

void add_within(const LogBoot& boot, Within& w) {
  double y_mean = 0, x_mean = 0;
  const auto n = static_cast<double>(boot.samples.size());
  for (const LogSample& s : boot.samples) {
    y_mean += s.y / n;
    x_mean += s.x / n;
  }
  for (const LogSample& s : boot.samples) {
    const double x = s.x - x_mean, y = s.y - y_mean;
    w.xx += x * x;
    w.xy += x * y;
    w.yy += y * y;
  }
}

}  // namespace

std::vector<LogBoot> log_boots(const std::vector<BootValues>& boots, int& excluded) {
  std::vector<LogBoot> out;
  for (const BootValues& boot : boots) {
    LogBoot log_boot{boot.arm, boot.order, {}};
    for (const SampleValue& s : boot.samples) {
      if (std::isfinite(s.value) && s.value > 0) {
        const bool known = s.acceptance && std::isfinite(*s.acceptance);
        log_boot.samples.push_back({std::log(s.value), known ? s.acceptance : std::nullopt, s.k_eff});
      } else {
        ++excluded;
      }
    }
    if (!log_boot.samples.empty()) out.push_back(std::move(log_boot));
  }
  std::stable_sort(out.begin(), out.end(), [](const LogBoot& a, const LogBoot& b) { return a.order < b.order; });
  // A fixed order of samples makes every sum the same for every order in which they were given.
  for (LogBoot& b : out) {
    std::sort(b.samples.begin(), b.samples.end(), [](const LogSample& l, const LogSample& r) {
      return std::pair(l.y, l.acceptance.value_or(-1)) < std::pair(r.y, r.acceptance.value_or(-1));
    });
  }
  return out;
}

std::optional<Slope> pooled_slope(const std::vector<LogBoot>& boots) {
  constexpr double kLeastSpread = 1e-4;  // a hundredth of a point of acceptance is rounding, not luck
  Within arms[2];
  double df = -static_cast<double>(boots.size()) - 1;
  for (const LogBoot& boot : boots) {
    add_within(boot, arms[boot.arm == Arm::kCand ? 1 : 0]);
    df += static_cast<double>(boot.samples.size());
  }
  const Within all{arms[0].xx + arms[1].xx, arms[0].xy + arms[1].xy, arms[0].yy + arms[1].yy};
  if (df < 1 || std::sqrt(all.xx / (df + 1)) < kLeastSpread) return std::nullopt;
  Slope slope;
  slope.value = all.xy / all.xx;
  slope.df = df;
  slope.variance = all.rest(slope.value) / df / all.xx;
  // A line of its own for each arm: their difference against what both leave.
  if (arms[0].xx > 0 && arms[1].xx > 0 && df > 1) {
    const double base = arms[0].xy / arms[0].xx, cand = arms[1].xy / arms[1].xx;
    const double rest = arms[0].rest(base) + arms[1].rest(cand);
    const double variance = rest / (df - 1) * (1 / arms[0].xx + 1 / arms[1].xx);
    if (variance > 0) slope.parallel_p = t_two_sided_p((cand - base) / std::sqrt(variance), df - 1);
  }
  return slope;
}

bool set_covariate(std::vector<LogBoot>& boots) {
  bool all_k = true;
  for (const LogBoot& boot : boots) {
    for (const LogSample& s : boot.samples) all_k = all_k && s.k_eff && *s.k_eff > 0;
  }
  for (LogBoot& boot : boots) {
    for (LogSample& s : boot.samples) s.x = all_k ? std::log1p(*s.k_eff * *s.acceptance) : *s.acceptance;
  }
  return all_k;
}

std::vector<double> boot_medians(const std::vector<LogBoot>& boots) {
  std::vector<double> medians;
  for (const LogBoot& boot : boots) {
    std::vector<double> y;
    for (const LogSample& s : boot.samples) y.push_back(s.y);
    medians.push_back(*median(y));
  }
  return medians;
}

}  // namespace bk::stats
