#include "bracket/execute.h"

#include <algorithm>

#include "bracket/greedy.h"
#include "bracket/one_boot.h"
#include "bracket/stored_boots.h"
#include "bracket/stored_plan.h"

namespace bk::bracket {
namespace {

Result<int> failed_gates(store::Database& database, store::RowId bracket) {
  BK_ASSIGN(const auto gates, database.gates(bracket));
  return static_cast<int>(std::count_if(gates.begin(), gates.end(), [](const auto& g) { return g.verdict != "pass"; }));
}

Result<Outcome> finish(store::Database& database, const Plan& plan, store::RowId bracket, Judgement judgement,
                       const std::string& state) {
  if (state == "done") BK_TRY(store_greedy(database, bracket));
  BK_TRY(database.add_assessment(to_row(judgement, plan, bracket)));
  BK_TRY(database.set_bracket_state(bracket, state, state == "void" ? judgement.assessment.reason : ""));
  BK_ASSIGN(const int failed, failed_gates(database, bracket));
  return Outcome{std::move(judgement), failed};
}

/// An error ends the run, not the bracket: `resume` goes on from here.
Status leave_resumable(store::Database& database, store::RowId bracket, const Error& error) {
  const bool stopped = error.code == Errc::kInterrupted;
  BK_TRY(database.set_bracket_state(bracket, stopped ? "interrupted" : "failed", error.text()));
  return fail(error);
}

/// Whether a look falls on `boots` boots and finds an answer: the rest of the plan is not needed then.
Result<bool> resolved_at(store::Database& database, const Plan& plan, store::RowId bracket, std::size_t boots) {
  const auto& looks = plan.options.looks;
  if (std::find(looks.begin(), looks.end(), static_cast<int>(boots)) == looks.end()) return false;
  BK_ASSIGN(const Judgement judgement, judge_bracket(database, bracket, plan));
  return judgement.assessment.state != stats::State::kInconclusive;
}

Result<VoidCause> run_boots(const Tools& tools, const boot::Profile& profile, const Plan& plan, store::RowId bracket,
                            store::RowId run) {
  BK_TRY(end_stale_boots(tools.database, bracket));
  BK_ASSIGN(const auto todo, positions(tools.database, bracket, plan.order.size()));
  BK_ASSIGN(auto evidence, finished_evidence(tools.database, bracket));
  for (std::size_t i = 0; i < plan.order.size(); ++i) {
    BK_ASSIGN(const bool enough, resolved_at(tools.database, plan, bracket, i));
    if (enough) return VoidCause{};
    if (todo[i].done) continue;
    if (tools.stopped && tools.stopped()) return fail(Errc::kInterrupted, "interrupted between two boots");
    const int at = static_cast<int>(i), of = static_cast<int>(plan.order.size());
    OneBoot boot{tools,
                 profile,
                 {plan, bracket, plan.order[i], at, of, todo[i].attempts, to_string(plan.order[i]), {&plan}},
                 run,
                 evidence};
    BK_ASSIGN(const VoidCause cause, boot.run());
    if (cause) return cause;
    evidence.push_back(boot.evidence());
  }
  return VoidCause{};
}

}  // namespace

std::pair<store::PlanRow, store::BracketRow> plan_rows(const Plan& plan, const std::string& reopen) {
  store::PlanRow plan_row;
  plan_row.config_hash = config_hash(plan);
  plan_row.plan_json = to_json(plan).dump();
  plan_row.created_wall = wall_now();
  store::BracketRow row;
  row.profile = plan.profile;
  row.profile_hash = plan.profile_hash;
  row.axis = plan.axis();
  row.knob = plan.knob;
  row.base_value = plan.base_value;
  row.cand_value = plan.cand_value;
  row.base_knobs_json = knobs_json(plan.base).dump();
  row.cand_knobs_json = knobs_json(plan.cand).dump();
  row.primary_metric = plan.metric;
  row.primary_cell = plan.cell;
  row.better = to_string(plan.better);
  row.created_wall = plan_row.created_wall;
  row.reopen_reason = reopen;
  return {plan_row, row};
}

Result<store::RowId> store_plan(store::Database& database, const Plan& plan, const std::string& reopen) {
  const auto [plan_row, row] = plan_rows(plan, reopen);
  return database.create_bracket(plan_row, row);
}

Result<Outcome> execute(const Tools& tools, const boot::Profile& profile, const Plan& plan, store::RowId bracket,
                        store::RowId run) {
  BK_TRY(tools.database.set_bracket_state(bracket, "running"));
  auto cause = run_boots(tools, profile, plan, bracket, run);
  if (!cause) {
    BK_TRY(leave_resumable(tools.database, bracket, cause.error()));
  }
  BK_ASSIGN(Judgement judgement, judge_bracket(tools.database, bracket, plan));
  if (*cause) {
    judgement.assessment = stats::void_assessment(cause->reason, cause->sentence);
    return finish(tools.database, plan, bracket, std::move(judgement), "void");
  }
  if (plan.is_baseline()) {  // nothing was compared: there is nothing to assess
    BK_TRY(tools.database.set_bracket_state(bracket, "done"));
    BK_ASSIGN(const int failed, failed_gates(tools.database, bracket));
    return Outcome{std::move(judgement), failed};
  }
  return finish(tools.database, plan, bracket, std::move(judgement), "done");
}

Result<Plan> resumable_plan(store::Database& database, const store::BracketRow& bracket, const boot::Profile& profile) {
  const std::string name = store::short_uid(bracket.uid);
  if (!bracket.plan_id) return fail(Errc::kRefused, "an imported bracket has no plan to resume", name);
  if (bracket.state == "done" || bracket.state == "void") {
    return fail(Errc::kRefused, fmt::format("the bracket is {} already; see `bracket show {}`", bracket.state, name),
                name);
  }
  BK_ASSIGN(const Plan plan, stored_plan(database, bracket));
  const std::string changed = what_changed(plan, profile);
  if (!changed.empty()) {
    return fail(
        Errc::kRefused,
        fmt::format("the configuration changed since the plan was stored: {}; put it back, or start a new bracket",
                    changed),
        name);
  }
  return plan;
}

}  // namespace bk::bracket
