#include <algorithm>
#include <cmath>

#include "stats/assess.h"
#include "stats/contrast.h"
#include "stats/least_squares.h"
#include "stats/log_boots.h"
#include "stats/step_check.h"
#include "stats/student.h"
#include "stats/summary.h"
#include "stats/within.h"

namespace bk::stats {
namespace {

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
                  const std::optional<BootVariance>& history, const Contrast& contrast) {
  std::vector<int> variants;
  Term drift{"drift", {}};
  double middle = 0;
  for (const LogBoot& b : boots) middle += b.order / static_cast<double>(boots.size());
  for (const LogBoot& b : boots) {
    variants.push_back(b.variant);
    drift.column.push_back(b.order - middle);
  }
  const std::vector<Term> arms = arm_terms(variants, contrast);
  std::vector<Term> terms = arms;
  if (rules.drift) terms.push_back(drift);
  BootFit out;
  const auto fit = least_squares(terms, y);
  if (!fit) {
    out.arm.reason = out.drift.reason = "no_samples";
    return out;
  }
  out.arm = read_effect(*fit, "arm", history, rules.alpha);
  Effect& e = out.arm;
  // A bracket with most of the freedom of its own shows a step in its residuals; one judged by history would not.
  if (rules.drift && history && e.se && history->df > e.residual_df) {
    const StepCheck step = check_step(arms, y, *e.estimate, *e.se / std::sqrt(e.unscaled_variance), e.df);
    e.step_p = step.p;
    e.step = step.step;
    e.step_room = step.room;
  }
  if (rules.drift) out.drift = read_effect(*fit, "drift", history, rules.alpha);
  return out;
}

bool ranges_overlap(const std::vector<LogBoot>& boots) {
  double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
  for (const LogBoot& boot : boots) {
    if (boot.aside) continue;
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

double mean_of(const std::vector<double>& values) {
  double mean = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  return mean;
}

std::vector<Group> values_of(const std::vector<LogBoot>& boots) {
  std::vector<Group> groups;
  for (const LogBoot& boot : boots) {
    Group y;
    for (const LogSample& s : boot.samples) y.push_back(s.y);
    groups.push_back(std::move(y));
  }
  return groups;
}

std::optional<double> within_sd(const std::vector<LogBoot>& boots) { return pair_scale(values_of(boots)); }

int outlying(const std::vector<LogBoot>& boots) {
  const double limit = kOutlyingInScales * within_sd(boots).value_or(0);
  if (!(limit > 0)) return 0;
  int count = 0;
  for (const Group& group : values_of(boots)) {
    const double level = *median(group);
    for (const double y : group) count += std::fabs(y - level) > limit ? 1 : 0;
  }
  return count;
}

/// Whether the two sides draft different numbers of tokens a step: a knob that changes that changes what acceptance
/// means, and tokens a step are then its work, not luck to be taken out. Drafts that end with their answer, or a
/// drafter that finds less to copy, move the mean by less.
bool draft_length_differs(const std::vector<LogBoot>& boots) {
  constexpr double kMostShare = 0.1;
  double sum[2] = {0, 0}, count[2] = {0, 0};
  for (const LogBoot& boot : boots) {
    if (boot.aside) continue;
    for (const LogSample& s : boot.samples) {
      if (!s.k_eff || !(*s.k_eff > 0)) return false;
      const int arm = boot.arm == Arm::kCand ? 1 : 0;
      sum[arm] += *s.k_eff;
      ++count[arm];
    }
  }
  const double base = sum[0] / count[0], cand = sum[1] / count[1];
  return std::fabs(cand - base) > kMostShare * std::min(base, cand);
}

void estimate_acceptance(std::vector<LogBoot> boots, const Contrast& contrast, const Rules& rules, Estimates& out) {
  for (LogBoot& boot : boots) {
    auto& s = boot.samples;
    s.erase(std::remove_if(s.begin(), s.end(), [](const LogSample& one) { return !one.acceptance; }), s.end());
  }
  // An arm that drafts nothing has no acceptance, which is no loss to a question about other arms.
  std::erase_if(boots, [](const LogBoot& boot) { return boot.aside && boot.samples.empty(); });
  for (const LogBoot& boot : boots) {
    if (boot.samples.empty()) {
      out.acceptance.reason = out.equal_acceptance.reason = "acceptance_missing";
      return;
    }
  }
  const auto acceptance = boot_means(boots, [](const LogSample& s) { return *s.acceptance; });
  out.mean_acceptance = mean_of(acceptance);
  out.acceptance = fit_boots(boots, acceptance, rules, rules.history.acceptance, contrast).arm;
  out.acceptance_overlaps = ranges_overlap(boots);

  if (draft_length_differs(boots)) {
    out.equal_acceptance.reason = "draft_length_differs";
    return;
  }
  out.covariate = set_covariate(boots) ? Covariate::kLogTokensPerStep : Covariate::kAcceptance;
  const auto slope = pooled_slope(boots);
  if (!slope) {
    out.equal_acceptance.reason = "no_acceptance_spread_within_boots";
    return;
  }
  out.slope = slope->value;
  out.parallel_p = slope->parallel_p;
  const auto covariate = boot_means(boots, [](const LogSample& s) { return s.x; });
  const double middle = mean_of(covariate);
  for (LogBoot& boot : boots) {
    for (LogSample& s : boot.samples) s.y -= slope->value * (s.x - middle);
  }
  out.within_sd_equal_acceptance = within_sd(boots);
  out.outlying_samples = outlying(boots);
  const auto adjusted = boot_medians(boots);
  out.equal_acceptance = fit_boots(boots, adjusted, rules, rules.history.equal_acceptance, contrast).arm;
  add_slope_variance(out.equal_acceptance, *slope, fit_boots(boots, covariate, rules, std::nullopt, contrast).arm,
                     rules.alpha);
}

/// Boots that carry their variant; which side of the contrast each is on is written into them.
Estimates estimate_logs(std::vector<LogBoot> logs, const Contrast& contrast, const Rules& rules, Estimates out) {
  for (LogBoot& b : logs) {
    const double weight = weight_of(contrast, b.variant);
    b.aside = weight == 0;
    b.arm = weight > 0 ? Arm::kCand : Arm::kBase;
    if (!b.aside) ++(b.arm == Arm::kBase ? out.base_boots : out.cand_boots);
  }
  out.boots = out.base_boots + out.cand_boots;
  std::vector<int> variants;
  variants.reserve(logs.size());
  for (const LogBoot& b : logs) variants.push_back(b.variant);
  if (!has_every_arm(variants, contrast)) {
    const char* reason = out.boots == 0 ? "no_samples" : "one_arm";
    for (Effect* e : {&out.raw, &out.equal_acceptance, &out.acceptance, &out.drift}) e->reason = reason;
    return out;
  }
  const BootFit fit = fit_boots(logs, boot_medians(logs), rules, rules.history.raw, contrast);
  out.raw = fit.arm;
  out.drift = fit.drift;
  if (!rules.drift) out.drift.reason = "drift_not_in_the_model";
  out.within_sd = within_sd(logs);
  out.outlying_samples = outlying(logs);
  estimate_acceptance(logs, contrast, rules, out);
  return out;
}

}  // namespace

Estimates estimate(const std::vector<BootValues>& boots, const Rules& rules) {
  Estimates out;
  std::vector<LogBoot> logs = log_boots(boots, out.excluded_samples);
  for (LogBoot& b : logs) b.variant = b.arm == Arm::kCand ? 1 : 0;
  return estimate_logs(std::move(logs), kCandAgainstBase, rules, out);
}

Estimates estimate(const std::vector<BootValues>& boots, const Contrast& contrast, const Rules& rules) {
  Estimates out;
  return estimate_logs(log_boots(boots, out.excluded_samples), contrast, rules, out);
}

}  // namespace bk::stats
