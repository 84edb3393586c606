#include "bracket/forecast.h"

#include <cmath>

#include "bracket/execute.h"

namespace bk::bracket {
namespace {

/// Numbers of boots that a plan is compared with.
constexpr int kOtherBoots[] = {3, 5, 7, 9, 13, 17};

PlanLine line_of(const std::vector<stats::Arm>& order, const BootNoise& noise, const Plan& plan) {
  PlanLine line;
  line.boots = static_cast<int>(order.size());
  // A plan with looks has spent part of alpha before its last one.
  const stats::Rules rules = order.size() == plan.order.size() ? plan.rules_at(order.size()) : plan.rules();
  const auto design = stats::design_of(order, noise.sd, noise.df, rules);
  if (design) {
    line.resolves = stats::resolution(*design, rules);
    if (!line.resolves) line.reason = "too_few_degrees_of_freedom";
  } else {
    line.reason = line.boots < 3 ? "arm_not_told_from_drift" : "no_degrees_of_freedom";
  }
  return line;
}

/// Resolution falls with every pair of boots, so the first number that resolves the effect is found by halving.
std::optional<int> boots_for(double effect, const BootNoise& noise, const Plan& plan) {
  const auto resolves = [&](int boots) {
    const PlanLine line = line_of(boot_order(boots), noise, plan);
    return line.resolves && *line.resolves <= std::fabs(effect);
  };
  int low = 3, high = stats::kMostBoots - 1;
  if (!resolves(high)) return std::nullopt;
  while (low < high) {
    const int middle = low + (high - low) / 4 * 2;
    if (resolves(middle)) {
      high = middle;
    } else {
      low = middle + 2;
    }
  }
  return low;
}

Json line_json(const PlanLine& line) {
  Json j = Json::object();
  j.set("boots", line.boots).set("resolves_pct", line.resolves ? Json(stats::to_pct(*line.resolves)) : Json());
  if (!line.reason.empty()) j.set("resolves_pct_reason", line.reason);
  j.set("seconds", line.seconds);
  if (!line.seconds) j.set("seconds_reason", "no_boot_of_this_profile_is_done");
  return j;
}

}  // namespace

BootNoise boot_noise(const BaseHistory& history, const Plan& plan) {
  BootNoise noise;
  const stats::History known = stats::planned_history(history.groups, plan.options.decode.reps);
  const auto& variance = known.equal_acceptance ? known.equal_acceptance : known.raw;
  if (!variance || !(variance->variance > 0)) return noise;
  noise.sd = std::sqrt(variance->variance);
  noise.df = variance->df;
  noise.basis = known.equal_acceptance ? stats::Basis::kEqualAcceptance : stats::Basis::kRaw;
  noise.boots = history.boots;
  noise.discounted = history.discounted;
  return noise;
}

Result<Forecast> forecast(store::Database& database, const Plan& plan, std::optional<double> effect) {
  Forecast out;
  BK_ASSIGN(const BaseHistory history, base_history(database, plan, std::nullopt));
  BK_ASSIGN(const auto seconds, estimated_seconds(database, plan));
  out.noise = boot_noise(history, plan);
  const auto timed = [&](PlanLine line) {
    if (seconds) line.seconds = *seconds * line.boots / static_cast<double>(plan.order.size());
    return line;
  };
  out.planned = timed(line_of(plan.order, out.noise, plan));
  for (const int boots : kOtherBoots) out.others.push_back(timed(line_of(boot_order(boots), out.noise, plan)));
  if (effect) out.boots_needed = boots_for(*effect, out.noise, plan);
  return out;
}

Forecast forecast_without_history(const Plan& plan) {
  Forecast out;
  out.planned = line_of(plan.order, out.noise, plan);
  return out;
}

std::string noise_text(const BootNoise& noise) {
  if (noise.assumed()) {
    return fmt::format("a boot deviation of {:g} % is assumed: no earlier base boots", 100 * noise.sd);
  }
  return fmt::format("boots differ by {:.2g} % in {} earlier base boots{}", 100 * noise.sd, noise.boots,
                     noise.discounted > 0 ? ", some of less weight" : "");
}

std::string resolution_text(double resolves) {
  constexpr double kMostPct = 1000;  // beyond a factor of eleven nobody asks for decimals
  const double percent = stats::to_pct(resolves);
  return percent > kMostPct ? fmt::format("more than {:g} %", kMostPct) : fmt::format("{:.2g} %", percent);
}

std::string forecast_text(const Forecast& f) {
  const std::string by = noise_text(f.noise);
  if (!f.planned.resolves) return fmt::format("can call no effect, whatever its size ({}); {}", f.planned.reason, by);
  return fmt::format("calls an effect of {} in {:g} of 10 brackets, smaller ones less often; {}",
                     resolution_text(*f.planned.resolves), 10 * stats::kPower, by);
}

Json to_json(const Forecast& f) {
  Json others = Json::array();
  for (const PlanLine& line : f.others) others.push(line_json(line));
  Json noise = Json::object();
  noise.set("boot_sd_log_points", 100 * f.noise.sd).set("df", f.noise.df).set("assumed", f.noise.assumed());
  noise.set("basis", to_string(f.noise.basis)).set("base_boots", f.noise.boots);
  noise.set("base_boots_of_less_weight", f.noise.discounted);
  Json j = Json::object();
  j.set("boot_noise", std::move(noise)).set("power", stats::kPower).set("planned", line_json(f.planned));
  return j.set("others", std::move(others)).set("boots_needed", f.boots_needed);
}

}  // namespace bk::bracket
