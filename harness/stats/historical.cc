#include "stats/historical.h"

#include <algorithm>
#include <cmath>

#include "stats/acc_fit.h"
#include "stats/summary.h"

namespace bk::stats {
namespace {

std::optional<double> value_at_acc50(const BootValues& boot) {
  std::vector<AccPoint> points;
  for (const SampleValue& s : boot.samples) {
    if (!s.acceptance || !s.k_eff || !std::isfinite(s.value)) return std::nullopt;
    points.push_back({legacy_from_raw(*s.acceptance, *s.k_eff), s.value});
  }
  const auto fit = acc_fit(points);
  if (!fit) return std::nullopt;
  return fit->at_50;
}

std::optional<double> mean_value(const BootValues& boot) {
  std::vector<double> values;
  for (const SampleValue& s : boot.samples) values.push_back(s.value);
  return summarize(values).mean;
}

/// One value a leg, all of them made the same way; nothing when a leg has none.
std::vector<double> leg_values(const std::vector<BootValues>& boots,
                               std::optional<double> (*value)(const BootValues&)) {
  std::vector<double> out;
  for (const BootValues& boot : boots) {
    const auto v = value(boot);
    if (!v) return {};
    out.push_back(*v);
  }
  return out;
}

Historical not_a_bracket(Historical h, std::string reason) {
  h.reason = std::move(reason);
  return h;
}

}  // namespace

const char* to_string(Historical::Call call) {
  switch (call) {
    case Historical::Call::kGain:
      return "gain";
    case Historical::Call::kLoss:
      return "loss";
    case Historical::Call::kInconclusive:
      return "inconclusive";
    case Historical::Call::kNotABracket:
      break;
  }
  return "not_a_bracket";
}

Historical historical_rule(const std::vector<BootValues>& boots, Better better) {
  std::vector<BootValues> ordered = boots;
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.order < b.order; });
  Historical h;
  h.leg_values = leg_values(ordered, value_at_acc50);
  h.at_acc50 = !h.leg_values.empty();
  if (!h.at_acc50) h.leg_values = leg_values(ordered, mean_value);
  if (h.leg_values.empty()) return not_a_bracket(std::move(h), "a_leg_has_no_sample");

  std::vector<double> bases, cands;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    (ordered[i].arm == Arm::kBase ? bases : cands).push_back(h.leg_values[i]);
  }
  if (cands.empty()) return not_a_bracket(std::move(h), "no_candidate");
  if (bases.empty()) return not_a_bracket(std::move(h), "no_base");
  const double base = *summarize(bases).mean, cand = *summarize(cands).mean;
  if (!(base > 0)) return not_a_bracket(std::move(h), "base_is_not_positive");
  h.delta_pct = 100 * (cand / base - 1);
  if (bases.size() < 2) return not_a_bracket(std::move(h), "one_base");
  const double first = bases.front(), last = bases.back();
  if (!(first > 0 && last > 0)) return not_a_bracket(std::move(h), "base_is_not_positive");
  h.base_gap_pct = 100 * std::fabs(first - last) / (0.5 * (first + last));
  h.drift_pct = 100 * (last / first - 1);
  if (ordered.front().arm != Arm::kBase || ordered.back().arm != Arm::kBase) {
    return not_a_bracket(std::move(h), "first_and_last_leg_must_be_base");
  }
  const double gain = better == Better::kHigher ? *h.delta_pct : -*h.delta_pct;
  if (std::fabs(gain) <= *h.base_gap_pct) {
    h.call = Historical::Call::kInconclusive;
  } else {
    h.call = gain > 0 ? Historical::Call::kGain : Historical::Call::kLoss;
  }
  return h;
}

}  // namespace bk::stats
