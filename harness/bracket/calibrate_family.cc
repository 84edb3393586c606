#include "bracket/calibrate_family.h"

#include <algorithm>
#include <cmath>

#include "stats/family.h"

namespace bk::bracket {
namespace {

using stats::Contrast;

double truth_of(const World& world, const Contrast& contrast) {
  double truth = 0;
  for (std::size_t v = 0; v < contrast.size(); ++v) truth += contrast[v] * effect_of(world, static_cast<int>(v));
  return truth;
}

/// Judges contrasts as one family; true when none of them stops what comes after.
bool judge(const CalibrationCell& cell, const std::vector<stats::BootValues>& boots,
           const std::vector<Contrast>& contrasts, double alpha, const std::vector<stats::HistoryGroup>& history,
           FamilyTrial& trial) {
  constexpr double kNone = 1e-12;
  stats::Rules rules;
  rules.alpha = alpha;
  bool worse = false;
  for (const stats::Comparison& c : stats::assess_family(boots, contrasts, rules, history)) {
    const stats::State state = c.assessment.state;
    const bool null = std::fabs(truth_of(cell.world, c.contrast)) < kNone;
    trial.false_alarm = trial.false_alarm || (null && c.assessment.significant);
    trial.better = trial.better || state == stats::State::kBetter;
    worse = worse || state == stats::State::kWorse;
  }
  trial.called = trial.called || trial.better || worse;
  return !worse;
}

void find_best(const CalibrationCell& cell, const std::vector<stats::BootValues>& boots,
               const std::vector<int>& variants, const std::vector<stats::HistoryGroup>& history, FamilyTrial& trial) {
  const stats::Peak peak = stats::find_peak(boots, variants, {}, history);
  if (peak.best > 0) {
    const stats::Effect& e = peak.curve[static_cast<std::size_t>(peak.best)];
    if (e.half_width) {
      trial.peak_covered = std::fabs(*e.estimate - effect_of(cell.world, peak.best)) <= *e.half_width;
    }
  }
  int best = 0;
  for (const int v : variants) {
    if (effect_of(cell.world, v) > effect_of(cell.world, best)) best = v;
  }
  trial.best_kept = std::find(peak.tied.begin(), peak.tied.end(), best) != peak.tied.end();
}

}  // namespace

FamilyTrial try_family(const CalibrationCell& cell, stats::Random& random) {
  std::vector<stats::HistoryGroup> history;
  if (cell.history_boots > 0) history.push_back(simulate_history(cell.world, cell.history_boots, random));
  const std::vector<int> order = variants_of(cell.order);
  const auto boots = simulate_boots(cell.world, order, random);
  const double alpha = stats::Rules{}.alpha;
  FamilyTrial trial;
  if (cell.judge == Judge::kMatrix) {
    // Single arms in the boots before the combined one's first, then the combined one, each stage at half of alpha.
    const auto first = std::find(order.begin(), order.end(), 3) - order.begin();
    const std::vector<stats::BootValues> single(boots.begin(), boots.begin() + first);
    const bool passed =
        judge(cell, single, {stats::difference(1, 0), stats::difference(2, 0)}, alpha / 2, history, trial);
    if (passed) {
      judge(cell, boots, {stats::difference(3, 0), stats::interaction(3, {1, 2})}, alpha / 2, history, trial);
    }
    return trial;
  }
  std::vector<Contrast> contrasts;
  std::vector<int> variants;
  for (int v = 1; v <= *std::max_element(order.begin(), order.end()); ++v) {
    variants.push_back(v);
    contrasts.push_back(stats::difference(v, 0));
  }
  judge(cell, boots, contrasts, alpha, history, trial);
  find_best(cell, boots, variants, history, trial);
  return trial;
}

}  // namespace bk::bracket
