#include "stats/pairs.h"

#include <algorithm>
#include <cmath>

#include "stats/random.h"
#include "stats/sentence.h"
#include "stats/student.h"
#include "stats/within.h"

namespace bk::stats {
namespace {

/// Differences candidate - base: of log values, of acceptance, and of the covariate.
struct Differences {
  std::vector<double> y, acceptance, x;
  Covariate covariate = Covariate::kAcceptance;
  double mean_acceptance = 0;
  int excluded = 0;
};

bool usable(double value) { return std::isfinite(value) && value > 0; }

Differences differences_of(const std::vector<Pair>& pairs) {
  Differences d;
  std::vector<const Pair*> good;
  for (const Pair& p : pairs) {
    if (usable(p.base.value) && usable(p.cand.value)) {
      good.push_back(&p);
    } else {
      ++d.excluded;
    }
  }
  const auto every = [&](auto test) {
    return std::all_of(good.begin(), good.end(), [&](const Pair* p) { return test(p->base) && test(p->cand); });
  };
  const bool known = every([](const SampleValue& s) { return s.acceptance && std::isfinite(*s.acceptance); });
  const bool steps = known && every([](const SampleValue& s) { return s.k_eff && *s.k_eff > 0; });
  d.covariate = steps ? Covariate::kLogTokensPerStep : Covariate::kAcceptance;
  const auto covariate = [&](const SampleValue& s) {
    return steps ? std::log1p(*s.k_eff * *s.acceptance) : *s.acceptance;
  };
  for (const Pair* p : good) {
    d.y.push_back(std::log(p->cand.value / p->base.value));
    if (!known) continue;
    d.acceptance.push_back(*p->cand.acceptance - *p->base.acceptance);
    d.x.push_back(covariate(p->cand) - covariate(p->base));
    d.mean_acceptance += (*p->cand.acceptance + *p->base.acceptance) / (2 * static_cast<double>(good.size()));
  }
  return d;
}

void put_interval(Effect& effect, double variance, double df, const std::optional<BootVariance>& boot, double alpha) {
  double total = variance;
  effect.df = df;
  effect.residual_df = df;
  if (boot) {
    if (!(boot->df > 0)) {
      effect.reason = "boot_variance_unknown";
      return;
    }
    const double boots = 2 * boot->variance;
    total += boots;
    effect.df = total * total / (variance * variance / df + boots * boots / boot->df);
  }
  if (!(total > 1e-18)) {
    effect.reason = "no_variance";
    return;
  }
  effect.se = std::sqrt(total);
  effect.half_width = t_quantile(1 - alpha / 2, effect.df) * *effect.se;
  effect.p = t_two_sided_p(*effect.estimate / *effect.se, effect.df);
}

Effect mean_effect(const std::vector<double>& values, const std::optional<BootVariance>& boot, double alpha) {
  Effect effect;
  const auto mean = robust_mean(values);
  if (!mean) {
    effect.reason = values.empty() ? "no_samples" : "no_degrees_of_freedom";
    if (!values.empty()) effect.estimate = values.front();
    return effect;
  }
  effect.estimate = mean->value;
  effect.residual_sd = std::sqrt(mean->variance * static_cast<double>(values.size()));
  put_interval(effect, mean->variance, mean->df, boot, alpha);
  return effect;
}

/// The difference that is left where both samples of a pair have one acceptance.
void put_equal_acceptance(const Differences& d, const Rules& rules, const std::optional<BootVariance>& boot,
                          Estimates& out) {
  const auto line = within_line({{d.x, d.y}});
  if (!line) {
    out.equal_acceptance.reason = d.x.empty() ? "acceptance_missing" : "no_acceptance_spread_within_boots";
    return;
  }
  out.slope = line->slope;
  std::vector<double> adjusted;
  double middle = 0;
  for (std::size_t i = 0; i < d.y.size(); ++i) {
    adjusted.push_back(d.y[i] - line->slope * d.x[i]);
    middle += d.x[i] / static_cast<double>(d.y.size());
  }
  const auto mean = robust_mean(adjusted);
  if (!mean) return;
  Effect& e = out.equal_acceptance;
  e.estimate = mean->value;
  e.residual_sd = std::sqrt(mean->variance * static_cast<double>(adjusted.size()));
  put_interval(e, mean->variance + middle * middle * line->variance / line->xx, line->df, boot, rules.alpha);
}

}  // namespace

std::optional<double> sign_flip_p(const std::vector<double>& differences, bool& exact) {
  const std::size_t n = differences.size();
  exact = n <= static_cast<std::size_t>(kExactPairs);
  if (n < 2) return std::nullopt;
  double seen = 0, scale = 0;
  for (const double d : differences) {
    seen += d;
    scale += std::fabs(d);
  }
  // Sums that differ by rounding alone are equal.
  const double least = std::fabs(seen) - 1e-12 * scale;
  const std::uint64_t all = exact ? std::uint64_t{1} << n : kFlips;
  Random random(1);
  std::uint64_t as_far = 0;
  for (std::uint64_t i = 0; i < all; ++i) {
    double sum = 0;
    std::uint64_t signs = i;
    for (std::size_t j = 0; j < n; ++j) {
      if (!exact && j % 64 == 0) signs = random.bits();
      sum += (signs & 1U) != 0 ? differences[j] : -differences[j];
      signs >>= 1U;
    }
    as_far += std::fabs(sum) >= least ? 1 : 0;
  }
  // Of random assignments the seen one counts too, so that p is never 0.
  return exact ? static_cast<double>(as_far) / static_cast<double>(all)
               : static_cast<double>(as_far + 1) / static_cast<double>(all + 1);
}

PairAssessment assess_pairs(const std::vector<Pair>& pairs, const Rules& rules,
                            const std::optional<BootVariance>& boot) {
  PairAssessment out;
  const Differences d = differences_of(pairs);
  out.check.pairs = static_cast<int>(d.y.size());
  out.check.excluded = d.excluded;
  out.check.boots_counted = boot && boot->df > 0;
  out.check.sign_flip_p = sign_flip_p(d.y, out.check.exact);
  Estimates e;
  e.boots = boot ? 2 : 1;
  e.excluded_samples = d.excluded;
  e.covariate = d.covariate;
  e.drift.reason = "pairs_leave_no_drift";
  e.raw = mean_effect(d.y, boot, rules.alpha);
  put_equal_acceptance(d, rules, boot, e);
  e.acceptance.reason = "acceptance_missing";
  if (!d.acceptance.empty()) {
    e.acceptance = mean_effect(d.acceptance, std::nullopt, rules.alpha);
    e.mean_acceptance = d.mean_acceptance;
  }
  out.assessment = decide(std::move(e), rules);
  out.assessment.sentence = pair_sentence(out, rules);
  return out;
}

}  // namespace bk::stats
