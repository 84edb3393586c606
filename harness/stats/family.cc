#include "stats/family.h"

#include <algorithm>
#include <cmath>

namespace bk::stats {
namespace {

/// What history says of boots measured like those that the contrast is about.
History history_for(const std::vector<BootValues>& boots, const Contrast& contrast,
                    const std::vector<HistoryGroup>& history) {
  if (history.empty()) return {};
  std::vector<BootValues> asked;
  std::copy_if(boots.begin(), boots.end(), std::back_inserter(asked),
               [&](const BootValues& b) { return weight_of(contrast, b.variant) != 0; });
  return boot_history(history, asked);
}

Rules at_level(const Rules& rules, double alpha, const History& history) {
  Rules out = rules;
  out.alpha = alpha;
  out.history = history;
  return out;
}

bool has_boots(const std::vector<BootValues>& boots, int variant) {
  return std::any_of(boots.begin(), boots.end(), [&](const BootValues& b) { return b.variant == variant; });
}

const Effect& on(const Estimates& e, Basis basis) { return basis == Basis::kRaw ? e.raw : e.equal_acceptance; }

double gain(const Effect& effect, const Rules& rules) {
  return rules.better == Better::kHigher ? *effect.estimate : -*effect.estimate;
}

}  // namespace

std::vector<Comparison> assess_family(const std::vector<BootValues>& boots, const std::vector<Contrast>& contrasts,
                                      const Rules& rules, const std::vector<HistoryGroup>& history) {
  std::vector<Comparison> out;
  std::vector<History> known;
  std::vector<std::size_t> open;
  for (const Contrast& contrast : contrasts) {
    open.push_back(out.size());
    out.push_back({contrast, 0, {}});
    known.push_back(history_for(boots, contrast, history));
  }
  for (std::size_t called = 1; !open.empty() && called > 0;) {
    const double alpha = rules.alpha / static_cast<double>(open.size());
    for (const std::size_t i : open) {
      out[i].alpha = alpha;
      out[i].assessment = assess(boots, contrasts[i], at_level(rules, alpha, known[i]));
    }
    called = std::erase_if(open, [&](std::size_t i) { return out[i].assessment.significant; });
  }
  std::vector<std::optional<double>> p;
  p.reserve(out.size());
  for (const Comparison& c : out) p.push_back(deciding(c.assessment).p);
  const auto adjusted = holm(p);
  for (std::size_t i = 0; i < out.size(); ++i) out[i].assessment.p_adjusted = adjusted[i];
  return out;
}

Peak find_peak(const std::vector<BootValues>& boots, const std::vector<int>& variants, const Rules& rules,
               const std::vector<HistoryGroup>& history) {
  Peak peak;
  const double alpha = rules.alpha / static_cast<double>(std::max<std::size_t>(1, variants.size()));
  std::vector<std::pair<int, Estimates>> against_base;
  bool adjusted = true;
  for (const int v : variants) {
    if (!has_boots(boots, v) || !has_boots(boots, 0)) continue;
    const Contrast contrast = difference(v, 0);
    const Assessment a = assess(boots, contrast, at_level(rules, alpha, history_for(boots, contrast, history)));
    adjusted = adjusted && a.basis == Basis::kEqualAcceptance;
    against_base.emplace_back(v, a.estimates);
  }
  peak.basis = adjusted && !against_base.empty() ? Basis::kEqualAcceptance : Basis::kRaw;
  const int last = variants.empty() ? 0 : *std::max_element(variants.begin(), variants.end());
  peak.curve.resize(static_cast<std::size_t>(last) + 1);
  double most = 0;  // the base against itself
  for (const auto& [v, estimates] : against_base) {
    const Effect& effect = on(estimates, peak.basis);
    peak.curve[static_cast<std::size_t>(v)] = effect;
    if (!effect.estimate || gain(effect, rules) <= most) continue;
    most = gain(effect, rules);
    peak.best = v;
  }
  const auto beaten = [&](int v) {
    const Contrast contrast = difference(peak.best, v);
    // Two-sided at twice the level: each side has it.
    const Estimates e = estimate(boots, contrast, at_level(rules, 2 * alpha, history_for(boots, contrast, history)));
    const Effect& effect = on(e, peak.basis);
    return effect.half_width && gain(effect, rules) > *effect.half_width + effect.step_room;
  };
  for (int v = 0; v <= last; ++v) {
    if (!has_boots(boots, v)) continue;
    if (v == peak.best || !beaten(v)) peak.tied.push_back(v);
  }
  return peak;
}

}  // namespace bk::stats
