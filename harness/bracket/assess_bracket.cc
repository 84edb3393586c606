#include "bracket/assess_bracket.h"

#include "base/version.h"
#include "stats/assessment_json.h"

namespace bk::bracket {
namespace {

store::EffectRow effect_row(const stats::Effect& e, bool points) {
  store::EffectRow row;
  if (!e.estimate || !e.half_width) {
    row.reason = e.reason.empty() ? "unstated" : e.reason;
    return row;
  }
  const auto shown = [&](double v) { return points ? 100 * v : stats::to_pct(v); };
  row.value = shown(*e.estimate);
  row.lo = shown(*e.estimate - *e.half_width);
  row.hi = shown(*e.estimate + *e.half_width);
  return row;
}

}  // namespace

stats::BootValues values_of_boot(const store::BootRow& boot, const std::vector<store::MetricPoint>& points) {
  stats::BootValues values{
      boot.arm == "cand" ? stats::Arm::kCand : stats::Arm::kBase, static_cast<double>(boot.position), {}};
  for (const store::MetricPoint& p : points) {
    if (p.boot_id != boot.id || !p.sample_ok || !p.value.value) continue;
    values.samples.push_back({*p.value.value, p.accept_raw, p.accept_k_eff});
  }
  return values;
}

Result<std::vector<stats::BootValues>> boot_values(store::Database& database, store::RowId bracket,
                                                   const std::string& metric, const std::string& cell) {
  BK_ASSIGN(const auto boots, database.boots_briefly(bracket));
  BK_ASSIGN(const auto points, database.metric_points(bracket, metric, cell));
  std::vector<stats::BootValues> out;
  for (const store::BootRow& boot : boots) {
    if (boot.state == "done") out.push_back(values_of_boot(boot, points));
  }
  return out;
}

Result<Judgement> judge_bracket(store::Database& database, store::RowId bracket, const Plan& plan) {
  BK_ASSIGN(const BaseHistory earlier, base_history(database, plan, bracket));
  return judge_bracket(database, bracket, plan, earlier);
}

Result<Judgement> judge_bracket(store::Database& database, store::RowId bracket, const Plan& plan,
                                const BaseHistory& earlier) {
  BK_ASSIGN(const auto primary, boot_values(database, bracket, plan.metric, plan.cell));
  BK_ASSIGN(const auto rounds, boot_values(database, bracket, "round_tok_s", plan.cell));
  stats::Rules rules = plan.rules_at(primary.size());
  rules.history = stats::boot_history(earlier.groups, primary);
  Judgement judgement{
      stats::assess(primary, rules), stats::historical_rule(rounds, stats::Better::kHigher), to_json(earlier), {}};
  const std::string history = history_text(earlier, plan.profile);
  if (!history.empty()) judgement.assessment.sentence += " " + history;
  return judgement;
}

store::AssessmentRow to_row(const Judgement& judgement, const Plan& plan, store::RowId bracket) {
  const stats::Assessment& a = judgement.assessment;
  const stats::Historical& h = judgement.historical;
  store::AssessmentRow row;
  row.bracket_id = bracket;
  row.state = to_string(a.state);
  row.reason_code = a.reason;
  row.reason = a.sentence;
  row.metric = plan.metric;
  row.cell = plan.cell;
  row.effect_raw_pct = effect_row(a.estimates.raw, false);
  row.effect_equal_acceptance_pct = effect_row(a.estimates.equal_acceptance, false);
  row.effect_on_acceptance_points = effect_row(a.estimates.acceptance, true);
  row.p_value = a.basis == stats::Basis::kRaw ? a.estimates.raw.p : a.estimates.equal_acceptance.p;
  row.drift_pct = h.drift_pct;
  row.historical_effect_pct = h.delta_pct;
  row.historical_base_gap_pct = h.base_gap_pct;
  if (h.call != stats::Historical::Call::kNotABracket) {
    row.historical_call = h.call == stats::Historical::Call::kInconclusive ? "unresolved" : "resolved";
  }
  if (a.boots_needed) row.boots_needed = *a.boots_needed;
  Json detail = Json::object();
  detail.set("rule_version", stats::kRuleVersion).set("history", judgement.history);
  detail.set("assessment", stats::to_json(a)).set("historical", stats::to_json(h));
  if (!judgement.family.is_null()) detail.set("family", judgement.family);
  row.detail_json = detail.dump();
  row.created_wall = wall_now();
  row.tool_version = version();
  return row;
}

}  // namespace bk::bracket
