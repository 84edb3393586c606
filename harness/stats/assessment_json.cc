#include "stats/assessment_json.h"

namespace bk::stats {
namespace {

std::optional<double> scaled(std::optional<double> v, double factor) {
  if (!v) return std::nullopt;
  return *v * factor;
}

/// @param points  true: acceptance, reported in percentage points; false: a log-scale effect, in percent.
Json effect_json(const Effect& e, const std::string& unit, bool points) {
  const auto shown = [&](std::optional<double> v) -> std::optional<double> {
    if (!v) return std::nullopt;
    return points ? 100 * *v : to_pct(*v);
  };
  std::optional<double> low, high;
  if (e.estimate && e.half_width) {
    low = *e.estimate - *e.half_width;
    high = *e.estimate + *e.half_width;
  }
  Json j = Json::object();
  j.set("effect_" + unit, shown(e.estimate)).set("low_" + unit, shown(low)).set("high_" + unit, shown(high));
  // Half width, standard error and residual of log-scale effects are in log points: one number for both sides.
  const std::string spread = points ? "points" : "log_points";
  j.set("half_width_" + spread, scaled(e.half_width, 100)).set("se_" + spread, scaled(e.se, 100));
  j.set("residual_sd_" + spread, scaled(e.residual_sd, 100));
  j.set("p", e.p).set("step_p", e.step_p).set("step_room_" + spread, 100 * e.step_room);
  j.set("df", e.estimate ? Json(e.df) : Json());
  if (!e.reason.empty()) j.set("reason", e.reason);
  return j;
}

}  // namespace

Json to_json(const Assessment& a) {
  const Estimates& e = a.estimates;
  Json j = Json::object();
  j.set("state", to_string(a.state)).set("reason", a.reason).set("sentence", a.sentence);
  j.set("significant", a.significant).set("basis", to_string(a.basis)).set("acceptance_moved", a.acceptance_moved);
  j.set("raw", effect_json(e.raw, "pct", false));
  j.set("equal_acceptance", effect_json(e.equal_acceptance, "pct", false));
  j.set("acceptance", effect_json(e.acceptance, "points", true));
  j.set("drift_per_boot", effect_json(e.drift, "pct", false));
  j.set("covariate", to_string(e.covariate)).set("slope", e.slope);
  j.set("slopes_parallel_p", e.parallel_p);
  j.set("mean_acceptance", e.mean_acceptance).set("acceptance_overlaps", e.acceptance_overlaps);
  j.set("within_boot_sd_log_points", scaled(e.within_sd, 100));
  j.set("within_boot_sd_equal_acceptance_log_points", scaled(e.within_sd_equal_acceptance, 100));
  j.set("boots", e.boots).set("base_boots", e.base_boots).set("cand_boots", e.cand_boots);
  j.set("excluded_samples", e.excluded_samples).set("outlying_samples", e.outlying_samples);
  j.set("boots_needed", a.boots_needed).set("boot_sd_assumed", a.boot_sd_assumed);
  j.set("p_adjusted", a.p_adjusted);
  return j;
}

Json to_json(const Effect& effect) { return effect_json(effect, "pct", false); }

Json to_json(const Historical& h) {
  Json j = Json::object();
  j.set("verdict", to_string(h.call)).set("delta_pct", h.delta_pct).set("drift_pct", h.drift_pct);
  j.set("base_gap_pct", h.base_gap_pct).set("value_basis", h.at_acc50 ? "acc50" : "mean");
  j.set("leg_values", h.leg_values).set("false_alarm_rate", kHistoricalFalseAlarmRate);
  if (!h.reason.empty()) j.set("reason", h.reason);
  return j;
}

}  // namespace bk::stats
