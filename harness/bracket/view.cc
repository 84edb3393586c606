#include "bracket/view.h"

#include <algorithm>

#include "bracket/family_plan.h"
#include "bracket/stored_plan.h"
#include "stats/summary.h"

namespace bk::bracket {
namespace {

void add_samples(const std::vector<store::SampleRow>& samples, const store::BracketRow& bracket,
                 std::vector<double>& values, std::vector<std::optional<double>>& acceptance, BootView& view) {
  for (const store::SampleRow& sample : samples) {
    if (sample.warmup || sample.cell != bracket.primary_cell) continue;
    const auto it = sample.metrics.find(bracket.primary_metric);
    if (!sample.ok || it == sample.metrics.end() || !it->second.value) {
      ++view.failed_samples;
      continue;
    }
    values.push_back(*it->second.value);
    if (sample.accept_raw) acceptance.emplace_back(sample.accept_raw);
  }
}

Result<BootView> load_boot(store::Database& database, const store::BootRow& boot, const store::BracketRow& bracket) {
  BootView view;
  view.boot = boot;
  std::vector<double> values;
  std::vector<std::optional<double>> acceptance;
  BK_ASSIGN(const auto legs, database.legs(boot.id));
  for (const store::LegRow& leg : legs) {
    BK_ASSIGN(const auto samples, database.samples(leg.id));
    add_samples(samples, bracket, values, acceptance, view);
    BK_ASSIGN(const auto gates, database.leg_gates(leg.id));
    view.gates.insert(view.gates.end(), gates.begin(), gates.end());
  }
  const stats::Summary summary = stats::summarize(values);
  view.samples = summary.n;
  view.median = summary.median;
  view.min = summary.min;
  view.max = summary.max;
  view.acceptance = stats::summarize(acceptance).mean;
  return view;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json boot_json(const BootView& view) {
  Json gates = Json::array();
  for (const store::GateRow& gate : view.gates) {
    gates.push(Json::object()
                   .set("name", gate.name)
                   .set("verdict", gate.verdict)
                   .set("passed", gate.passed)
                   .set("asked", gate.asked)
                   .set("detail", text_or_null(gate.detail)));
  }
  Json j = Json::object();
  j.set("position", view.boot.position).set("attempt", view.boot.attempt).set("arm", view.boot.arm);
  j.set("state", view.boot.state).set("reason", text_or_null(view.boot.reason));
  j.set("samples", view.samples).set("failed_samples", view.failed_samples).set("median", view.median);
  j.set("min", view.min).set("max", view.max).set("acceptance_raw", view.acceptance);
  return j.set("gates", std::move(gates)).set("engine_version", text_or_null(view.boot.engine_version));
}

Json replaced_json(const std::vector<store::AssessmentRow>& replaced) {
  Json list = Json::array();
  for (const store::AssessmentRow& a : replaced) {
    Json j = Json::object();
    j.set("state", a.state).set("reason", text_or_null(a.reason_code)).set("sentence", text_or_null(a.reason));
    list.push(j.set("made_at", format_utc(a.created_wall)).set("tool_version", text_or_null(a.tool_version)));
  }
  return list;
}

}  // namespace

Result<View> load_view(store::Database& database, const std::string& uid_or_prefix) {
  View view;
  BK_ASSIGN(view.summary, database.bracket(uid_or_prefix));
  const store::BracketRow& bracket = view.summary.bracket;
  if (bracket.plan_id) {
    auto plan = stored_plan(database, bracket);
    if (plan) {
      view.plan = std::move(*plan);
    } else if (plan.error().code != Errc::kMismatch) {
      return fail(plan.error());
    }
  }
  if (bracket.family_id) {
    BK_ASSIGN(view.family_uid, database.bracket_uid(*bracket.family_id));
  }
  BK_ASSIGN(const auto boots, database.boots(bracket.id));
  const auto until = view.plan ? view.plan->family[kJudgedAfter].as_int() : std::nullopt;
  for (const store::BootRow& boot : boots) {
    if (until && boot.position >= *until) continue;
    BK_ASSIGN(BootView one, load_boot(database, boot, bracket));
    if (boot.state == "done") {
      view.gates_failed += static_cast<int>(
          std::count_if(one.gates.begin(), one.gates.end(), [](const auto& g) { return g.verdict != "pass"; }));
    }
    view.boots.push_back(std::move(one));
  }
  BK_ASSIGN(view.proofs, database.proofs(bracket.id));
  BK_ASSIGN(view.verdicts, database.verdicts(bracket.id));
  BK_ASSIGN(view.replaced, database.assessments(bracket.id));
  if (!view.replaced.empty()) view.replaced.pop_back();
  if (view.summary.assessment && !view.summary.assessment->detail_json.empty()) {
    BK_ASSIGN(const Json detail, parse_json(view.summary.assessment->detail_json));
    view.assessment = detail["assessment"];
    view.historical = detail["historical"];
  }
  return view;
}

Json to_json(const View& view) {
  const store::BracketRow& b = view.summary.bracket;
  Json boots = Json::array(), proofs = Json::array(), verdicts = Json::array();
  for (const BootView& boot : view.boots) boots.push(boot_json(boot));
  for (const store::ProofRow& p : view.proofs) {
    proofs.push(Json::object()
                    .set("knob", p.knob)
                    .set("expected", p.expected)
                    .set("observed", text_or_null(p.observed))
                    .set("state", p.state)
                    .set("evidence", text_or_null(p.source))
                    .set("reason", text_or_null(p.reason)));
  }
  for (const store::VerdictRow& v : view.verdicts) {
    verdicts.push(Json::object()
                      .set("word", v.word)
                      .set("by", v.signed_by)
                      .set("reason", v.reason)
                      .set("override", text_or_null(v.override_reason))
                      .set("signed_at", format_utc(v.created_wall)));
  }
  Json j = Json::object();
  j.set("uid", b.uid).set("profile", b.profile).set("profile_hash", b.profile_hash).set("axis", b.axis);
  j.set("family_uid", text_or_null(view.family_uid));
  j.set("knob", b.knob).set("base_value", b.base_value).set("cand_value", b.cand_value);
  j.set("primary_metric", b.primary_metric).set("primary_cell", b.primary_cell);
  j.set("state", b.state).set("reason", text_or_null(b.reason)).set("created_at", format_utc(b.created_wall));
  j.set("seed", view.plan ? Json(fmt::format("{}", view.plan->options.seed)) : Json());
  j.set("boots", std::move(boots)).set("proofs", std::move(proofs)).set("gates_failed", view.gates_failed);
  j.set("assessment", view.assessment).set("historical", view.historical).set("verdicts", std::move(verdicts));
  j.set("replaced_assessments", replaced_json(view.replaced))
      .set("signed_state", text_or_null(view.summary.signed_state));
  return j.set("next", what_next(view));
}

std::string what_next(const View& view) {
  const store::BracketRow& b = view.summary.bracket;
  const std::string id = store::short_uid(b.uid);
  if (view.summary.is_outdated()) {
    return fmt::format(
        "signed as {} when it was assessed {}: sign it again with bracket verdict {} WORD --by NAME "
        "--reason TEXT",
        view.verdicts.back().word, view.summary.signed_state, id);
  }
  if (!view.verdicts.empty())
    return fmt::format("signed as {} by {}", view.verdicts.back().word, view.verdicts.back().signed_by);
  const std::string state = view.assessment["state"].as_string().value_or("");
  const auto sign = [&](const char* word) {
    return fmt::format("bracket verdict {} {} --by NAME --reason TEXT", id, word);
  };
  if (b.state == "void") return "put right what is named above and start a new bracket";
  if (b.state != "done") return "bracket resume " + id;
  if (view.gates_failed > 0)
    return fmt::format("look at the {} gates that did not pass before signing anything", view.gates_failed);
  if (state == "better") return sign("adopted");
  if (state == "worse") return sign("rejected");
  if (state == "same") return sign("neutral");
  if (const auto needed = view.assessment["boots_needed"].as_int()) {
    return fmt::format("a bracket of --boots {} would settle an effect of this size; or {}", *needed, sign("deferred"));
  }
  return sign("deferred");
}

}  // namespace bk::bracket
