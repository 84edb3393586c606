#include <algorithm>
#include <cmath>

#include "stats/assess.h"
#include "stats/least_squares.h"
#include "stats/student.h"
#include "stats/summary.h"

namespace bk::stats {
namespace {

/// One sample on the log scale.
struct LogSample {
  double y = 0;
  std::optional<double> acceptance, k_eff;
  double x = 0;  ///< the covariate, once acceptance is known to be there
};
struct LogBoot {
  Arm arm = Arm::kBase;
  double order = 0;
  std::vector<LogSample> samples;
};

std::vector<LogBoot> usable(const std::vector<BootValues>& boots, int& excluded) {
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

void put_interval(Effect& effect, double variance, double df, double alpha) {
  effect.df = df;
  effect.se = std::sqrt(variance);
  effect.half_width = t_quantile(1 - alpha / 2, df) * *effect.se;
  effect.p = *effect.se > 0 ? t_two_sided_p(*effect.estimate / *effect.se, df) : (*effect.estimate == 0 ? 1.0 : 0.0);
}

Effect read_effect(const Fit& fit, const std::string& name, const std::optional<BootVariance>& history, double alpha) {
  Effect effect;
  const Coefficient* c = fit.find(name);
  effect.residual_df = fit.df;
  effect.residual_sd = fit.sigma;
  if (!c || !c->value) {
    effect.reason = "arm_not_told_from_drift";
    return effect;
  }
  effect.estimate = c->value;
  effect.unscaled_variance = c->unscaled_variance;
  const double df = fit.df + (history ? history->df : 0);
  if (df <= 0) {
    effect.reason = "no_degrees_of_freedom";
    return effect;
  }
  const double pooled = (fit.rss + (history ? history->variance * history->df : 0)) / df;
  constexpr double kLeastSd = 1e-9;
  if (!(pooled > kLeastSd * kLeastSd)) {
    // Boots that agree up to rounding (a coarse counter, a constant): no noise was seen, which is no proof of none.
    effect.reason = "no_variance";
    return effect;
  }
  put_interval(effect, pooled * c->unscaled_variance, df, alpha);
  return effect;
}

struct BootFit {
  Effect arm, drift;
};

BootFit fit_boots(const std::vector<LogBoot>& boots, const std::vector<double>& y, const Rules& rules,
                  const std::optional<BootVariance>& history) {
  Term constant{"constant", {}}, arm{"arm", {}}, drift{"drift", {}};
  double middle = 0;
  for (const LogBoot& b : boots) middle += b.order / static_cast<double>(boots.size());
  for (const LogBoot& b : boots) {
    constant.column.push_back(1);
    arm.column.push_back(b.arm == Arm::kCand ? 1 : 0);
    drift.column.push_back(b.order - middle);
  }
  std::vector<Term> terms{constant, arm};
  if (rules.drift) terms.push_back(drift);
  BootFit out;
  const auto fit = least_squares(terms, y);
  if (!fit) {
    out.arm.reason = out.drift.reason = "no_samples";
    return out;
  }
  out.arm = read_effect(*fit, "arm", history, rules.alpha);
  if (rules.drift) out.drift = read_effect(*fit, "drift", history, rules.alpha);
  return out;
}

/// Within-boot deviations of log value and acceptance from their boot's means: what is common to a boot is gone.
struct Within {
  std::vector<double> y, x, x_cand;
  int boots = 0;
};

Within within_boots(const std::vector<LogBoot>& boots) {
  Within w;
  for (const LogBoot& boot : boots) {
    ++w.boots;
    double y_mean = 0, x_mean = 0;
    const auto n = static_cast<double>(boot.samples.size());
    for (const LogSample& s : boot.samples) {
      y_mean += s.y / n;
      x_mean += s.x / n;
    }
    for (const LogSample& s : boot.samples) {
      w.y.push_back(s.y - y_mean);
      w.x.push_back(s.x - x_mean);
      w.x_cand.push_back(boot.arm == Arm::kCand ? w.x.back() : 0);
    }
  }
  return w;
}

/// The pooled slope of log value on the covariate, its variance, and whether both arms share it.
struct Slope {
  double value = 0, variance = 0, df = 0;
  std::optional<double> parallel_p;
};

std::optional<Slope> pooled_slope(const Within& w) {
  constexpr double kLeastSpread = 1e-4;  // a hundredth of a point of acceptance is rounding, not luck
  double squares = 0;
  for (const double x : w.x) squares += x * x;
  const double df = static_cast<double>(w.x.size()) - w.boots - 1;
  if (df < 1 || std::sqrt(squares / (df + 1)) < kLeastSpread) return std::nullopt;
  const auto one = least_squares({{"x", w.x}}, w.y);
  if (!one || one->rank < 1) return std::nullopt;
  Slope slope;
  slope.value = *one->coefficients[0].value;
  slope.df = df;
  slope.variance = one->rss / df * one->coefficients[0].unscaled_variance;
  const auto two = least_squares({{"x", w.x}, {"x_cand", w.x_cand}}, w.y);
  if (two && two->rank == 2 && df > 1 && two->rss > 0) {
    const double variance = two->rss / (df - 1) * two->coefficients[1].unscaled_variance;
    slope.parallel_p = t_two_sided_p(*two->coefficients[1].value / std::sqrt(variance), df - 1);
  }
  return slope;
}

bool ranges_overlap(const std::vector<LogBoot>& boots) {
  double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
  for (const LogBoot& boot : boots) {
    const int arm = boot.arm == Arm::kCand ? 1 : 0;
    for (const LogSample& s : boot.samples) {
      low[arm] = std::min(low[arm], *s.acceptance);
      high[arm] = std::max(high[arm], *s.acceptance);
    }
  }
  return low[0] <= high[1] && low[1] <= high[0];
}

/// Adds what the slope's own uncertainty does to the arm effect. Source: Satterthwaite (1946) for the joint df.
void add_slope_variance(Effect& effect, const Slope& slope, const Effect& on_covariate, double alpha) {
  if (!effect.se || !on_covariate.estimate) return;
  const double boots = *effect.se * *effect.se;
  const double luck = *on_covariate.estimate * *on_covariate.estimate * slope.variance;
  const double sum = boots + luck;
  put_interval(effect, sum, sum * sum / (boots * boots / effect.df + luck * luck / slope.df), alpha);
}

/// Mean of one number over each boot's samples. shape: one a boot
template <class Get>
std::vector<double> boot_means(const std::vector<LogBoot>& boots, Get get) {
  std::vector<double> means;
  for (const LogBoot& boot : boots) {
    double mean = 0;
    for (const LogSample& s : boot.samples) mean += get(s) / static_cast<double>(boot.samples.size());
    means.push_back(mean);
  }
  return means;
}

double mean_of(const std::vector<double>& values) {
  double mean = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  return mean;
}

/// Tokens per step, 1 + k·acceptance, on the log scale where every sample says its k: a rate is steps a second times
/// tokens a step, so the line is straight. Else acceptance itself, a straight line over its usual range.
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

void estimate_acceptance(std::vector<LogBoot> boots, const Rules& rules, Estimates& out) {
  for (LogBoot& boot : boots) {
    auto& s = boot.samples;
    s.erase(std::remove_if(s.begin(), s.end(), [](const LogSample& one) { return !one.acceptance; }), s.end());
    if (s.empty()) {
      out.acceptance.reason = out.equal_acceptance.reason = "acceptance_missing";
      return;
    }
  }
  const auto acceptance = boot_means(boots, [](const LogSample& s) { return *s.acceptance; });
  out.mean_acceptance = mean_of(acceptance);
  out.acceptance = fit_boots(boots, acceptance, rules, rules.history.acceptance).arm;
  out.acceptance_overlaps = ranges_overlap(boots);

  out.covariate = set_covariate(boots) ? Covariate::kLogTokensPerStep : Covariate::kAcceptance;
  const auto slope = pooled_slope(within_boots(boots));
  if (!slope) {
    out.equal_acceptance.reason = "no_acceptance_spread_within_boots";
    return;
  }
  out.slope = slope->value;
  out.parallel_p = slope->parallel_p;
  const auto covariate = boot_means(boots, [](const LogSample& s) { return s.x; });
  const double middle = mean_of(covariate);
  std::vector<double> adjusted;
  for (const LogBoot& boot : boots) {
    std::vector<double> values;
    for (const LogSample& s : boot.samples) values.push_back(s.y - slope->value * (s.x - middle));
    adjusted.push_back(*median(values));
  }
  out.equal_acceptance = fit_boots(boots, adjusted, rules, rules.history.equal_acceptance).arm;
  add_slope_variance(out.equal_acceptance, *slope, fit_boots(boots, covariate, rules, std::nullopt).arm, rules.alpha);
}

std::optional<double> within_sd(const std::vector<LogBoot>& boots) {
  double squares = 0, df = 0;
  for (const LogBoot& boot : boots) {
    std::vector<double> y;
    for (const LogSample& s : boot.samples) y.push_back(s.y);
    const Summary summary = summarize(y);
    if (!summary.sd) continue;
    squares += *summary.sd * *summary.sd * static_cast<double>(summary.n - 1);
    df += static_cast<double>(summary.n - 1);
  }
  if (df <= 0) return std::nullopt;
  return std::sqrt(squares / df);
}

}  // namespace

Estimates estimate(const std::vector<BootValues>& boots, const Rules& rules) {
  Estimates out;
  const std::vector<LogBoot> logs = usable(boots, out.excluded_samples);
  out.boots = static_cast<int>(logs.size());
  for (const LogBoot& b : logs) ++(b.arm == Arm::kBase ? out.base_boots : out.cand_boots);
  if (out.base_boots == 0 || out.cand_boots == 0) {
    const char* reason = logs.empty() ? "no_samples" : "one_arm";
    for (Effect* e : {&out.raw, &out.equal_acceptance, &out.acceptance, &out.drift}) e->reason = reason;
    return out;
  }
  std::vector<double> medians;
  for (const LogBoot& boot : logs) {
    std::vector<double> y;
    for (const LogSample& s : boot.samples) y.push_back(s.y);
    medians.push_back(*median(y));
  }
  const BootFit fit = fit_boots(logs, medians, rules, rules.history.raw);
  out.raw = fit.arm;
  out.drift = fit.drift;
  if (!rules.drift) out.drift.reason = "drift_not_in_the_model";
  out.within_sd = within_sd(logs);
  estimate_acceptance(logs, rules, out);
  return out;
}

}  // namespace bk::stats
