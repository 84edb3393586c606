#include "bracket/family_view.h"

#include <algorithm>
#include <map>

#include "bracket/family_plan.h"
#include "stats/summary.h"

namespace bk::bracket {
namespace {

std::string arm_name(const store::BracketRow& comparison, const Plan& plan) {
  FamilyArm arm;
  arm.plan = plan;
  const std::string name = arm.name();
  return name.empty() ? comparison.axis : name;
}

/// The base of a sweep by its value.
std::string base_name(const Plan& whole) {
  if (whole.family["kind"].as_string() != "sweep") return "base";
  const Json& axis = whole.family["axes"].items()[0];
  return axis["knob"].as_string().value_or("") + "=" + axis["values"].items()[0].as_string().value_or("");
}

FamilyArmView arm_of(std::string name, const View& view) {
  FamilyArmView arm;
  arm.name = std::move(name);
  arm.summary = view.summary;
  arm.assessment = view.assessment;
  std::vector<double> medians;
  std::vector<std::optional<double>> acceptance;
  for (const BootView& boot : view.boots) {
    if (boot.boot.bracket_id != view.summary.bracket.id) continue;  // a shared base boot
    arm.boots.push_back(boot);
    if (boot.boot.state != "done") continue;
    ++arm.boots_done;
    if (boot.median) medians.push_back(*boot.median);
    acceptance.push_back(boot.acceptance);
    for (const store::GateRow& gate : boot.gates) {
      ++arm.gates_asked;
      arm.gates_passed += gate.verdict == "pass" ? 1 : 0;
    }
  }
  arm.median = stats::median(medians);
  arm.acceptance = stats::summarize(acceptance).mean;
  return arm;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json arm_json(const FamilyArmView& arm, bool base) {
  const store::BracketRow& b = arm.summary.bracket;
  Json j = Json::object();
  j.set("arm", arm.name).set("uid", base ? Json() : Json(b.uid)).set("axis", base ? Json() : Json(b.axis));
  j.set("state", b.state).set("reason", text_or_null(b.reason));
  j.set("boots_done", arm.boots_done).set("median", arm.median).set("acceptance_raw", arm.acceptance);
  j.set("gates_passed", arm.gates_passed).set("gates_asked", arm.gates_asked).set("assessment", arm.assessment);
  return j.set("verdict", !base && arm.summary.verdict ? Json(arm.summary.verdict->word) : Json());
}

}  // namespace

Result<FamilyView> load_family_view(store::Database& database, const View& whole) {
  FamilyView out;
  out.summary = whole.summary;
  if (!whole.plan || !is_family(*whole.plan)) {
    return fail(Errc::kUsage, "no matrix and no sweep", store::short_uid(whole.summary.bracket.uid));
  }
  out.plan = *whole.plan;
  out.arms.push_back(arm_of(base_name(out.plan), whole));
  out.arms.back().assessment = Json();  // the whole's; the base is compared with nothing
  BK_ASSIGN(const auto members, database.family_members(whole.summary.bracket.id));
  for (const store::BracketSummary& member : members) {
    BK_ASSIGN(const View view, load_view(database, member.bracket.uid));
    out.arms.push_back(arm_of(arm_name(member.bracket, *view.plan), view));
  }
  std::map<std::int64_t, std::string> by_time;
  for (const FamilyArmView& arm : out.arms) {
    for (const BootView& boot : arm.boots) by_time[boot.boot.position] = arm.name;
  }
  for (auto& [position, name] : by_time) out.order.push_back(name);
  const auto& assessment = whole.summary.assessment;
  if (!assessment || assessment->detail_json.empty()) return out;
  BK_ASSIGN(const Json detail, parse_json(assessment->detail_json));
  out.peak = detail["family"]["peak"];
  for (const Json& answer : detail["family"]["answers"].items()) {
    if (answer["question"].as_string() == "interaction") out.interactions.push_back(answer);
  }
  return out;
}

Json to_json(const FamilyView& view) {
  const store::BracketRow& b = view.summary.bracket;
  Json arms = Json::array(), interactions = Json::array(), order = Json::array();
  for (std::size_t i = 0; i < view.arms.size(); ++i) arms.push(arm_json(view.arms[i], i == 0));
  for (const Json& answer : view.interactions) interactions.push(answer);
  for (const std::string& name : view.order) order.push(name);
  Json j = Json::object();
  j.set("kind", view.plan.family["kind"]).set("uid", b.uid).set("profile", b.profile).set("axis", b.axis);
  j.set("primary_metric", b.primary_metric).set("primary_cell", b.primary_cell).set("better", b.better);
  j.set("alpha", view.plan.options.alpha).set("band_pct", 100 * view.plan.options.band);
  j.set("state", b.state).set("reason", text_or_null(b.reason)).set("created_at", format_utc(b.created_wall));
  j.set("seed", fmt::format("{}", view.plan.options.seed)).set("order", std::move(order));
  j.set("arms", std::move(arms)).set("interactions", std::move(interactions)).set("peak", view.peak);
  const auto& a = view.summary.assessment;
  j.set("assessment_state", a ? Json(a->state) : Json()).set("assessment_reason", a ? Json(a->reason_code) : Json());
  return j.set("sentence", a ? text_or_null(a->reason) : Json()).set("next", what_next(view));
}

std::string what_next(const FamilyView& view) {
  const store::BracketRow& b = view.summary.bracket;
  if (b.state == "void") return "put right what is named above and start again";
  if (b.state != "done") return "bracket resume " + store::short_uid(b.uid);
  const FamilyArmView* best = nullptr;
  for (std::size_t i = 1; i < view.arms.size(); ++i) {
    const FamilyArmView& arm = view.arms[i];
    if (arm.assessment["state"].as_string() != "better" || arm.gates_passed < arm.gates_asked) continue;
    if (arm.summary.verdict) return fmt::format("{} is signed as {}", arm.name, arm.summary.verdict->word);
    const bool higher = b.better != "lower";
    if (best == nullptr || (higher ? arm.median > best->median : arm.median < best->median)) best = &arm;
  }
  if (best != nullptr) {
    return fmt::format("bracket show {}; then bracket verdict {} adopted --by NAME --reason TEXT",
                       store::short_uid(best->summary.bracket.uid), store::short_uid(best->summary.bracket.uid));
  }
  return "each comparison is signed by its id: bracket verdict ID WORD --by NAME --reason TEXT";
}

}  // namespace bk::bracket
