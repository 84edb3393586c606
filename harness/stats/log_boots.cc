#include "stats/log_boots.h"

#include <algorithm>
#include <cmath>

#include "stats/student.h"
#include "stats/summary.h"
#include "stats/within.h"

namespace bk::stats {
namespace {

/// What is left of a common line that one arm alone would explain by a line of its own.
struct OwnLine {
  double xx = 0, xy = 0;
  [[nodiscard]] double more() const { return xy / xx; }
};

OwnLine own_line(const std::vector<LogBoot>& boots, const WithinLine& line, Arm arm) {
  OwnLine own;
  for (std::size_t i = 0; i < boots.size(); ++i) {
    if (boots[i].arm != arm || boots[i].aside) continue;
    double mean = 0;
    const auto& samples = boots[i].samples;
    for (const LogSample& s : samples) mean += s.x / static_cast<double>(samples.size());
    for (std::size_t j = 0; j < samples.size(); ++j) {
      const double x = samples[j].x - mean;
      own.xx += x * x;
      own.xy += x * line.rest[i][j];
    }
  }
  return own;
}

}  // namespace

std::vector<LogBoot> log_boots(const std::vector<BootValues>& boots, int& excluded) {
  std::vector<LogBoot> out;
  for (const BootValues& boot : boots) {
    LogBoot log_boot{boot.arm, boot.order, {}, boot.variant};
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
  std::vector<PairedGroup> groups(boots.size());
  for (std::size_t i = 0; i < boots.size(); ++i) {
    for (const LogSample& s : boots[i].samples) {
      groups[i].x.push_back(s.x);
      groups[i].y.push_back(s.y);
    }
  }
  const auto line = within_line(groups);
  if (!line) return std::nullopt;
  Slope slope{line->slope, line->variance / line->xx, static_cast<double>(line->df), std::nullopt};
  const OwnLine base = own_line(boots, *line, Arm::kBase), cand = own_line(boots, *line, Arm::kCand);
  const double variance = line->variance * (1 / base.xx + 1 / cand.xx);
  if (base.xx > 0 && cand.xx > 0 && variance > 0) {
    slope.parallel_p = t_two_sided_p((cand.more() - base.more()) / std::sqrt(variance), slope.df);
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
