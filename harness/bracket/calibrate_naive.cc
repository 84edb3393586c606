#include "bracket/calibrate_naive.h"

#include <algorithm>
#include <cmath>

#include "stats/historical.h"
#include "stats/student.h"
#include "stats/summary.h"

namespace bk::bracket {
namespace {

constexpr double kAlpha = 0.05;

bool pooled_u(const std::vector<stats::BootValues>& boots) {
  std::vector<double> values[2];
  for (const auto& boot : boots) {
    for (const auto& s : boot.samples) values[boot.arm == stats::Arm::kCand ? 1 : 0].push_back(s.value);
  }
  return u_test_p(values[0], values[1]) < kAlpha;
}

bool paired_trials(const std::vector<stats::BootValues>& boots) {
  std::vector<double> differences;
  const auto &base = boots[0].samples, &cand = boots[1].samples;
  for (std::size_t i = 0; i < std::min(base.size(), cand.size()); ++i) {
    differences.push_back(std::log(cand[i].value / base[i].value));
  }
  const stats::Summary summary = stats::summarize(differences);
  if (!summary.sd || *summary.sd <= 0) return false;
  const auto n = static_cast<double>(summary.n);
  return stats::t_two_sided_p(*summary.mean / (*summary.sd / std::sqrt(n)), n - 1) < kAlpha;
}

}  // namespace

double u_test_p(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.empty() || b.empty()) return 1;
  std::vector<double> sorted = b;
  std::sort(sorted.begin(), sorted.end());
  double u = 0;
  for (const double value : a) {
    u += static_cast<double>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin());
  }
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  const double z = std::max(0.0, std::fabs(u - n * m / 2) - 0.5) / std::sqrt(n * m * (n + m + 1) / 12);
  return std::erfc(z / std::sqrt(2.0));
}

bool naive_call(Judge judge, const std::vector<stats::BootValues>& boots) {
  if (judge == Judge::kPooledU) return pooled_u(boots);
  if (judge == Judge::kPairedTrials) return paired_trials(boots);
  const auto call = stats::historical_rule(boots, stats::Better::kHigher).call;
  return call == stats::Historical::Call::kGain || call == stats::Historical::Call::kLoss;
}

}  // namespace bk::bracket
