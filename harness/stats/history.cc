#include "stats/history.h"

#include <algorithm>
#include <cmath>

#include "stats/least_squares.h"
#include "stats/log_boots.h"
#include "stats/summary.h"
#include "stats/within.h"

namespace bk::stats {
namespace {

/// Scatter of boots about the mean (or line) of their groups, and what sampling alone does to it.
struct Pool {
  double squares = 0, df = 0;          ///< weighted
  double share = 0, share_weight = 0;  ///< sampling variance of one boot in units of the variance within boots
  std::vector<Group> within;           ///< samples by boot
};

/// Variance of the median of n normal values in units of theirs: pi / 2n for large n, within 6 % from n = 1.
/// Source: Kendall and Stuart, The Advanced Theory of Statistics 1, on order statistics; small n by simulation.
double median_share(std::size_t n) {
  const double odd = static_cast<double>(n % 2 == 0 ? n + 1 : n);
  return n == 2 ? 0.5 : M_PI / 2 / (odd + M_PI / 2 - 1);
}
double mean_share(std::size_t n) { return 1 / static_cast<double>(n); }

/// One kind of number made of samples and of boots.
struct Kind {
  double (*of_sample)(const LogSample&);
  bool median = true;
  [[nodiscard]] double share(std::size_t n) const { return median ? median_share(n) : mean_share(n); }
  [[nodiscard]] double of_boot(const LogBoot& boot) const {
    std::vector<double> values;
    for (const LogSample& s : boot.samples) values.push_back(of_sample(s));
    return median ? *stats::median(values) : *summarize(values).mean;
  }
};

void add_within(Pool& pool, const Kind& kind, const std::vector<LogBoot>& boots) {
  for (const LogBoot& boot : boots) {
    Group values;
    for (const LogSample& s : boot.samples) values.push_back(kind.of_sample(s));
    pool.within.push_back(std::move(values));
  }
}

/// Variance of one sample about its boot. A stalled request does not move a median much, and must not move this.
BootVariance within_of(const Pool& pool, const Kind& kind) {
  BootVariance within;
  double squares = 0;
  for (const Group& group : pool.within) {
    const Summary summary = summarize(group);
    if (!summary.sd) continue;
    squares += *summary.sd * *summary.sd * static_cast<double>(summary.n - 1);
    within.df += static_cast<double>(summary.n - 1);
  }
  if (!(within.df > 0)) return within;
  within.variance = squares / within.df;
  const double scale = pair_scale(pool.within).value_or(0);
  if (kind.median && scale > 0) {
    within.variance = scale * scale;
    within.df *= kPairEfficiency;
  }
  return within;
}

void add_group(Pool& pool, const Kind& kind, const std::vector<LogBoot>& boots, double weight) {
  if (boots.size() < 2 || !(weight > 0)) return;
  Term constant{"constant", std::vector<double>(boots.size(), 1.0)}, drift{"drift", {}};
  std::vector<double> y;
  for (const LogBoot& boot : boots) {
    drift.column.push_back(boot.order - boots.front().order);
    y.push_back(kind.of_boot(boot));
  }
  std::vector<Term> terms{constant};
  if (boots.size() >= static_cast<std::size_t>(kDriftedGroup)) terms.push_back(drift);
  const auto fit = least_squares(terms, y);
  if (!fit || fit->df < 1) return;
  pool.squares += weight * fit->rss;
  pool.df += weight * fit->df;
  for (const LogBoot& boot : boots) {
    pool.share += weight * kind.share(boot.samples.size());
    pool.share_weight += weight;
  }
  add_within(pool, kind, boots);
}

/// The boots whose noise is asked for: what they hold, or how many samples each will have.
struct Asked {
  const std::vector<LogBoot>& boots;
  std::size_t planned_samples = 0;  ///< 0: the boots are there
  [[nodiscard]] double share(const Kind& kind) const {
    if (planned_samples > 0) return kind.share(planned_samples);
    double share = 0;
    for (const LogBoot& boot : boots) share += kind.share(boot.samples.size()) / static_cast<double>(boots.size());
    return share;
  }
};

std::optional<BootVariance> variance_of(Pool pool, const Kind& kind, const Asked& asked) {
  if (!(pool.df > 0)) return std::nullopt;
  const double seen = pool.squares / pool.df, share = asked.share(kind);
  if (!(share > 0)) return BootVariance{seen, pool.df};  // no boot to speak for
  const double more = share - pool.share / pool.share_weight;
  constexpr double kRounding = 1e-9;
  if (std::fabs(more) < kRounding) return BootVariance{seen, pool.df};
  add_within(pool, kind, asked.boots);
  const BootVariance within = within_of(pool, kind);
  if (!(within.df > 0)) return BootVariance{seen, pool.df};
  // Never below what sampling alone makes: the boots' own part is no negative variance.
  const double now = std::max(seen + more * within.variance, share * within.variance);
  const double sampling = more * within.variance;
  const double satterthwaite = now * now / (seen * seen / pool.df + sampling * sampling / within.df);
  return BootVariance{now, std::min(pool.df, satterthwaite)};
}

struct LogGroup {
  std::vector<LogBoot> boots;
  double weight = 1;
};

std::optional<BootVariance> pooled(const std::vector<LogGroup>& groups, const Kind& kind, const Asked& asked) {
  Pool pool;
  for (const LogGroup& group : groups) add_group(pool, kind, group.boots, group.weight);
  return variance_of(pool, kind, asked);
}

bool has_acceptance(const LogBoot& boot) {
  return std::all_of(boot.samples.begin(), boot.samples.end(), [](const LogSample& s) { return s.acceptance; });
}

/// Values moved along the pooled line to one acceptance; false when there is no such line.
bool adjust(std::vector<LogGroup>& groups, std::vector<LogBoot>& bracket) {
  std::vector<LogBoot> all = bracket;
  for (const LogGroup& group : groups) all.insert(all.end(), group.boots.begin(), group.boots.end());
  set_covariate(all);
  const auto slope = pooled_slope(all);
  if (!slope) return false;
  for (LogBoot& boot : all) {
    for (LogSample& s : boot.samples) s.y -= slope->value * s.x;
  }
  auto next = all.begin();
  for (LogBoot& boot : bracket) boot = *next++;
  for (LogGroup& group : groups) {
    for (LogBoot& boot : group.boots) boot = *next++;
  }
  return true;
}

History history_for(const std::vector<HistoryGroup>& groups, const std::vector<BootValues>& bracket,
                    std::size_t planned_samples) {
  const Kind raw{[](const LogSample& s) { return s.y; }};
  const Kind acceptance{[](const LogSample& s) { return *s.acceptance; }, false};
  int ignored = 0;
  std::vector<LogBoot> now = log_boots(bracket, ignored);
  const Asked asked{now, planned_samples};
  std::vector<LogGroup> logs;
  logs.reserve(groups.size());
  for (const HistoryGroup& group : groups) logs.push_back({log_boots(group.boots, ignored), group.weight});
  History history;
  history.raw = pooled(logs, raw, asked);
  for (LogGroup& group : logs) {
    auto& boots = group.boots;
    boots.erase(std::remove_if(boots.begin(), boots.end(), [](const auto& b) { return !has_acceptance(b); }),
                boots.end());
  }
  if (!std::all_of(now.begin(), now.end(), has_acceptance)) return history;
  history.acceptance = pooled(logs, acceptance, asked);
  if (adjust(logs, now)) history.equal_acceptance = pooled(logs, raw, asked);
  return history;
}

}  // namespace

History boot_history(const std::vector<HistoryGroup>& groups, const std::vector<BootValues>& bracket) {
  return history_for(groups, bracket, 0);
}

History planned_history(const std::vector<HistoryGroup>& groups, int samples) {
  return history_for(groups, {}, static_cast<std::size_t>(samples));
}

}  // namespace bk::stats
