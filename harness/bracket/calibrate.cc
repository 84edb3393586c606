#include "bracket/calibrate.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

#include "bracket/calibrate_family.h"
#include "bracket/calibrate_naive.h"
#include "physics/random.h"
#include "stats/sequential.h"

namespace bk::bracket {
namespace {

constexpr double kAlpha = 0.05;

/// A cell's draws depend on its name, not on its place in the list.
std::uint64_t seed_of(const CalibrationCell& cell, std::uint64_t seed) {
  std::uint64_t mixed = physics::mix({seed});
  for (const char c : cell.name) mixed = physics::mix({mixed, static_cast<std::uint64_t>(c)});
  return mixed;
}

/// Boots at each look, and the alpha of each.
struct Look {
  std::size_t boots = 0;
  double alpha = kAlpha;
};

std::vector<Look> looks_of(const CalibrationCell& cell) {
  if (cell.looks.empty()) return {{cell.order.size(), kAlpha}};
  const auto alphas = stats::look_alphas(arms_of(cell.order), cell.looks, stats::Rules{}.drift, kAlpha);
  std::vector<Look> out;
  for (std::size_t i = 0; alphas && i < cell.looks.size(); ++i) {
    out.push_back({static_cast<std::size_t>(cell.looks[i]), (*alphas)[i]});
  }
  return out;
}

/// Looks until the effect is called or the boots are spent.
stats::Assessment judge(const CalibrationCell& cell, const std::vector<Look>& looks, stats::Random& random) {
  std::vector<stats::HistoryGroup> history;
  if (cell.history_boots > 0) history.push_back(simulate_history(cell.world, cell.history_boots, random));
  const auto all = simulate_boots(cell.world, arms_of(cell.order), random);
  stats::Assessment assessment;
  for (const Look& look : looks) {
    const std::vector<stats::BootValues> boots(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(look.boots));
    stats::Rules rules;
    rules.alpha = look.alpha;
    if (!history.empty()) rules.history = stats::boot_history(history, boots);
    assessment = stats::assess(boots, rules);
    if (assessment.significant) break;
  }
  return assessment;
}

void count(const stats::Assessment& a, double truth, CellResult& result) {
  result.significant += a.significant ? 1 : 0;
  result.better += a.state == stats::State::kBetter ? 1 : 0;
  result.worse += a.state == stats::State::kWorse ? 1 : 0;
  const auto& e = a.basis == stats::Basis::kRaw ? a.estimates.raw : a.estimates.equal_acceptance;
  if (!e.estimate || !e.half_width) return;
  ++result.intervals;
  result.covered += std::fabs(*e.estimate - truth) <= *e.half_width ? 1 : 0;
}

void count(const FamilyTrial& trial, CellResult& result) {
  result.significant += trial.false_alarm ? 1 : 0;
  result.better += trial.better ? 1 : 0;
  result.worse += trial.called && !trial.better ? 1 : 0;
  if (trial.peak_covered) {
    ++result.intervals;
    result.covered += *trial.peak_covered ? 1 : 0;
  }
  if (trial.best_kept) {
    ++result.sweeps;
    result.best_kept += *trial.best_kept ? 1 : 0;
  }
}

void greatest(std::optional<double>& most, double value) { most = std::max(most.value_or(value), value); }
void least(std::optional<double>& fewest, double value) { fewest = std::min(fewest.value_or(value), value); }

}  // namespace

std::optional<double> CellResult::coverage_pct() const {
  if (intervals == 0) return std::nullopt;
  return 100.0 * covered / intervals;
}

std::optional<double> CellResult::best_kept_pct() const {
  if (sweeps == 0) return std::nullopt;
  return 100.0 * best_kept / sweeps;
}

CellResult run_cell(const CalibrationCell& cell, int brackets, std::uint64_t seed) {
  CellResult result;
  result.cell = cell;
  result.brackets = brackets;
  stats::Random random(seed_of(cell, seed));
  const auto looks = looks_of(cell);
  for (int i = 0; i < brackets; ++i) {
    if (cell.judge == Judge::kRule) {
      count(judge(cell, looks, random), cell.world.effect, result);
    } else if (cell.purpose == Purpose::kFamily) {
      count(try_family(cell, random), result);
    } else {
      result.significant += naive_call(cell.judge, simulate_boots(cell.world, arms_of(cell.order), random)) ? 1 : 0;
    }
  }
  return result;
}

std::vector<CellResult> run_cells(const std::vector<CalibrationCell>& cells, int brackets, std::uint64_t seed,
                                  int threads, const std::function<void(std::size_t)>& done,
                                  const std::function<bool()>& stopped) {
  std::vector<CellResult> results(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) results[i].cell = cells[i];
  std::atomic<std::size_t> next{0};
  std::mutex telling;
  std::size_t finished = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < cells.size(); i = next++) {
      if (stopped && stopped()) return;
      results[i] = run_cell(cells[i], brackets, seed);
      const std::lock_guard lock(telling);
      ++finished;
      if (done) done(finished);
    }
  };
  std::vector<std::thread> pool;
  for (int i = 1; i < threads; ++i) pool.emplace_back(work);
  work();
  for (std::thread& thread : pool) thread.join();
  return results;
}

CalibrationFigures figures_of(const std::vector<CellResult>& results) {
  CalibrationFigures f;
  for (const CellResult& r : results) {
    if (r.brackets == 0) continue;
    if (r.cell.purpose == Purpose::kFalseAlarm) {
      greatest(f.false_alarm_max, r.significant_pct());
      if (r.cell.looks.empty() && r.intervals > 0) {
        least(f.coverage_min, *r.coverage_pct());
        greatest(f.coverage_max, *r.coverage_pct());
      }
    } else if (r.cell.purpose == Purpose::kStep) {
      greatest(r.cell.order.size() < 5 ? f.false_alarm_step_aba_max : f.false_alarm_step_max, r.significant_pct());
    }
    if (r.cell.purpose == Purpose::kFamily) {
      greatest(f.family_false_alarm_max, r.significant_pct());
      if (r.intervals > 0) least(f.peak_coverage_min, *r.coverage_pct());
      if (r.sweeps > 0) least(f.best_kept_min, *r.best_kept_pct());
    }
    if (r.cell.name == kPowerAba35) f.power_aba_3_5 = r.better_pct();
    if (r.cell.name == kPowerAba15) f.power_aba_1_5 = r.significant_pct();
    if (r.cell.name == kPowerAbba12) {
      f.power_abba12_3_5 = r.better_pct();
      f.power_abba12_3_5_significant = r.significant_pct();
    }
    if (r.cell.name == kLedgerCell) f.ledger_rule_false_alarm = r.significant_pct();
  }
  return f;
}

std::vector<Bound> bounds_of(const CalibrationFigures& f) {
  const std::nullopt_t none = std::nullopt;
  return {{"false_alarm_max", f.false_alarm_max, none, 5.5},
          {"false_alarm_step_max", f.false_alarm_step_max, none, 8},
          {"false_alarm_step_aba_max", f.false_alarm_step_aba_max, none, 10},
          {"coverage_min", f.coverage_min, 94, none},
          {"coverage_max", f.coverage_max, none, 96},
          {"power_aba_3_5", f.power_aba_3_5, 97, none},
          {"power_aba_1_5", f.power_aba_1_5, 70, none},
          {"power_abba12_3_5", f.power_abba12_3_5, 72, none},
          {"power_abba12_3_5_significant", f.power_abba12_3_5_significant, 85, none},
          {"family_false_alarm_max", f.family_false_alarm_max, none, 5.5},
          {"peak_coverage_min", f.peak_coverage_min, 94, none},
          {"best_kept_min", f.best_kept_min, 94, none}};
}

std::vector<std::string> bounds_left(const CalibrationFigures& f, double slack) {
  std::vector<std::string> out;
  for (const Bound& b : bounds_of(f)) {
    if (!b.left(slack)) continue;
    const bool below = b.at_least && *b.value < *b.at_least;
    out.push_back(fmt::format("{} is {:.2f} %, {} {:g} %", b.name, *b.value, below ? "below" : "above",
                              below ? *b.at_least : b.at_most.value_or(0)));
  }
  return out;
}

Json to_json(const CalibrationFigures& f) {
  Json j = Json::object();
  for (const Bound& b : bounds_of(f)) j.set(b.name, b.value);
  return j.set("ledger_rule_false_alarm", f.ledger_rule_false_alarm);
}

}  // namespace bk::bracket
