#include "stats/assess.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/sentence.h"
#include "stats/student.h"

namespace bk::stats {
namespace {

/// What the numbers allow to be said: acceptance first, since it decides which effect counts.
void choose_basis(Assessment& a, const Rules& rules) {
  const Estimates& e = a.estimates;
  a.acceptance_moved = e.acceptance.p && *e.acceptance.p < kAcceptanceShare * rules.alpha;
  const bool parallel = !e.parallel_p || *e.parallel_p >= kParallelAlpha;
  // An adjusted effect without an interval serves as long as the raw one has none either.
  const bool usable = e.equal_acceptance.estimate && (e.equal_acceptance.p || !e.raw.p);
  a.basis = usable && parallel && !a.acceptance_moved ? Basis::kEqualAcceptance : Basis::kRaw;
}

double decision_alpha(const Assessment& a, const Rules& rules) {
  return a.estimates.acceptance.p ? (1 - kAcceptanceShare) * rules.alpha : rules.alpha;
}

void need_boots(Assessment& a, const Rules& rules) {
  const Effect& effect = deciding(a);
  if (!effect.estimate) return;
  a.boot_sd_assumed = !effect.residual_sd || *effect.residual_sd <= 0;
  double sd = a.boot_sd_assumed ? kAssumedBootSd : *effect.residual_sd;
  double more_df = 0;
  if (effect.df > effect.residual_df && effect.se && effect.unscaled_variance > 0) {
    sd = *effect.se / std::sqrt(effect.unscaled_variance);  // history is in it
    more_df = effect.df - effect.residual_df;
    a.boot_sd_assumed = false;
  }
  a.boots_needed = boots_to_resolve(*effect.estimate, sd, a.estimates.boots, rules, more_df);
}

void decide_on(Assessment& a, const Rules& rules) {
  const Effect& effect = deciding(a);
  a.state = State::kInconclusive;
  if (!effect.p) {
    a.reason = effect.reason;
    return;
  }
  const double gain = rules.better == Better::kHigher ? *effect.estimate : -*effect.estimate;
  const double half = *effect.half_width, band = std::log1p(rules.band);
  const double alpha = decision_alpha(a, rules);
  a.significant = *effect.p < alpha && std::fabs(gain) > half + effect.step_room;
  const bool beyond = std::fabs(gain) - half - effect.step_room > band;
  if (std::fabs(gain) + half + effect.step_room < band) {
    a.state = State::kSame;
    a.reason = "interval_inside_band";
  } else if (*effect.p >= alpha) {
    a.reason = "interval_spans_zero";
  } else if (!a.significant) {
    a.reason = "step_not_excluded";
  } else if (!beyond) {
    a.reason = "interval_touches_band";
  } else if (a.p_adjusted && *a.p_adjusted >= alpha) {
    a.reason = "not_after_holm";
  } else if (a.basis == Basis::kEqualAcceptance && !a.estimates.acceptance_overlaps &&
             !(a.estimates.raw.p && *a.estimates.raw.p<alpha&& * a.estimates.raw.estimate* * effect.estimate> 0)) {
    // Equal acceptance would be an extrapolation: no sample of one arm lies where the other's do.
    a.reason = "acceptance_apart";
  } else {
    a.state = gain > 0 ? State::kBetter : State::kWorse;
    a.reason = "effect_beyond_band";
  }
}

void finish(Assessment& a, const Rules& rules) {
  decide_on(a, rules);
  if (a.state == State::kInconclusive) need_boots(a, rules);
  a.sentence = sentence_of(a, rules);
}

}  // namespace

const char* to_string(State state) {
  switch (state) {
    case State::kBetter:
      return "better";
    case State::kWorse:
      return "worse";
    case State::kSame:
      return "same";
    case State::kInconclusive:
      return "inconclusive";
    case State::kVoid:
      break;
  }
  return "void";
}

const char* to_string(Basis basis) { return basis == Basis::kRaw ? "raw" : "equal_acceptance"; }

const char* to_string(Covariate covariate) {
  return covariate == Covariate::kAcceptance ? "acceptance" : "log_tokens_per_step";
}

const Effect& deciding(const Assessment& a) {
  return a.basis == Basis::kRaw ? a.estimates.raw : a.estimates.equal_acceptance;
}

double to_pct(double log_effect) { return 100 * std::expm1(log_effect); }

std::optional<int> boots_to_resolve(double effect, double boot_sd, int boots, const Rules& rules, double more_df) {
  const double room = std::fabs(std::fabs(effect) - std::log1p(rules.band));
  const int terms = rules.drift ? 3 : 2;
  const auto resolved = [&](int n) {
    // Alternating boots of an odd number are symmetric in time: arm and drift do not share variance.
    const int base = (n + 1) / 2, cand = (n - 1) / 2;
    const double variance = boot_sd * boot_sd * (1.0 / base + 1.0 / cand);
    return t_quantile(1 - rules.alpha / 2, n - terms + more_df) * std::sqrt(variance) < room;
  };
  // Base first and last, and at least two degrees of freedom of its own: with one, t is 12.7.
  int low = std::max(5, boots + 1 + boots % 2), high = kMostBoots - 1;
  if (low > high || !resolved(high)) return std::nullopt;
  while (low < high) {
    const int middle = low + (high - low) / 4 * 2;
    if (resolved(middle)) {
      high = middle;
    } else {
      low = middle + 2;
    }
  }
  return low;
}

std::vector<std::optional<double>> holm(const std::vector<std::optional<double>>& p) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i]) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return *p[a] < *p[b]; });
  std::vector<std::optional<double>> out(p.size());
  double running = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    running = std::max(running, std::min(1.0, *p[order[rank]] * static_cast<double>(order.size() - rank)));
    out[order[rank]] = running;
  }
  return out;
}

Assessment assess(const std::vector<BootValues>& boots, const Rules& rules) {
  return assess_all({Declared{boots, rules}}).front();
}

Assessment assess(const std::vector<BootValues>& boots, const Contrast& contrast, const Rules& rules) {
  Assessment a;
  a.estimates = estimate(boots, contrast, rules);
  choose_basis(a, rules);
  finish(a, rules);
  return a;
}

Assessment decide(Estimates estimates, const Rules& rules) {
  Assessment a;
  a.estimates = std::move(estimates);
  choose_basis(a, rules);
  decide_on(a, rules);
  return a;
}

std::vector<Assessment> assess_all(const std::vector<Declared>& metrics) {
  std::vector<Assessment> all;
  std::vector<std::optional<double>> p;
  for (const Declared& metric : metrics) {
    Assessment a;
    a.estimates = estimate(metric.boots, metric.rules);
    choose_basis(a, metric.rules);
    p.push_back(deciding(a).p);
    all.push_back(std::move(a));
  }
  const auto adjusted = holm(p);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all.size() > 1) all[i].p_adjusted = adjusted[i];
    finish(all[i], metrics[i].rules);
  }
  return all;
}

Assessment void_assessment(std::string reason, std::string sentence) {
  Assessment a;
  a.state = State::kVoid;
  a.reason = std::move(reason);
  a.sentence = std::move(sentence);
  for (Effect* e : {&a.estimates.raw, &a.estimates.equal_acceptance, &a.estimates.acceptance, &a.estimates.drift}) {
    e->reason = "void";
  }
  return a;
}

}  // namespace bk::stats
