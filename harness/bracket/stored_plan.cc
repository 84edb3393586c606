#include "bracket/stored_plan.h"

#include <optional>

#include "bracket/execute.h"

namespace bk::bracket {

Json knobs_json(const boot::KnobMap& knobs) {
  Json j = Json::object();
  for (const auto& [name, value] : knobs) j.set(name, value);
  return j;
}

boot::KnobMap knobs_of(const Json& json) {
  boot::KnobMap knobs;
  for (const auto& [name, value] : json.members()) knobs[name] = value.as_string().value_or("");
  return knobs;
}

Result<Plan> stored_plan(store::Database& database, const store::BracketRow& bracket) {
  const std::string name = store::short_uid(bracket.uid);
  if (!bracket.plan_id) return fail(Errc::kUsage, "an imported bracket has no plan", name);
  BK_ASSIGN(const store::PlanRow row, database.plan(*bracket.plan_id));
  BK_ASSIGN(const Json json, parse_json(row.plan_json));
  BK_ASSIGN(Plan plan, plan_from_json(json));
  if (config_hash(plan) != row.config_hash) {
    return fail(Errc::kMismatch, "the stored plan is not what its hash says: the database was edited", name);
  }
  return plan;
}

Result<std::optional<double>> estimated_seconds(store::Database& database, const Plan& plan) {
  BK_ASSIGN(const auto brackets, database.list_brackets());
  for (auto it = brackets.rbegin(); it != brackets.rend(); ++it) {
    if (it->bracket.profile != plan.profile || !it->bracket.plan_id || it->boots_done == 0) continue;
    const auto earlier = stored_plan(database, it->bracket);
    if (!earlier) continue;
    BK_ASSIGN(const auto boots, database.boots(it->bracket.id));
    double boot_s = 0, leg_s = 0;
    int n = 0;
    for (const store::BootRow& boot : boots) {
      if (boot.state != "done" || !boot.ready_wall || !boot.ended_wall) continue;
      boot_s += to_s(*boot.ready_wall - boot.started_wall);
      leg_s += to_s(*boot.ended_wall - *boot.ready_wall);
      ++n;
    }
    const std::int64_t tokens = tokens_per_boot(*earlier);
    if (n == 0 || tokens <= 0) continue;
    const double scale = static_cast<double>(tokens_per_boot(plan)) / static_cast<double>(tokens);
    return std::optional(static_cast<double>(plan.order.size()) * (boot_s + leg_s * scale) / n);
  }
  return std::optional<double>();
}

}  // namespace bk::bracket
