#include "bracket/family_execute.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "bracket/greedy.h"
#include "bracket/one_boot.h"
#include "bracket/stored_boots.h"
#include "bracket/stored_plan.h"
#include "stats/assessment_json.h"

namespace bk::bracket {
namespace {

/// Runs a stored family to its end.
class FamilyRun {
 public:
  FamilyRun(const Tools& tools, const boot::Profile& profile, const Family& family, const FamilyRows& rows,
            store::RowId run)
      : tools_(tools), db_(tools.database), profile_(profile), family_(family), rows_(rows), run_(run) {}

  Result<FamilyOutcome> run();
  /// An error ends the run, not the family.
  Status leave_resumable(const Error& error);

 private:
  Status load();
  Result<VoidCause> boots_of_stage(int stage);
  Result<VoidCause> boot_at(std::size_t position);
  Status void_bracket(const Plan& plan, store::RowId bracket, const VoidCause& cause);
  Status void_arm(int variant, const VoidCause& cause);
  Result<FamilyOutcome> void_all(const VoidCause& cause);
  Status end_stage(int stage);
  /// Combined arms with a single one that did not pass are not booted.
  Status close_combined();
  Result<std::string> why_not_passed(int variant);
  Result<FamilyOutcome> finish();

  [[nodiscard]] store::RowId row_of(int variant) const {
    return variant == 0 ? rows_.whole.id : rows_.arms[static_cast<std::size_t>(variant) - 1].id;
  }
  std::string& state_of(int variant) { return states_[static_cast<std::size_t>(variant) - 1]; }
  [[nodiscard]] std::vector<int> live() const;
  /// Whether an arm of the stage is not void.
  [[nodiscard]] bool is_asked(int stage) const;

  const Tools& tools_;
  store::Database& db_;
  const boot::Profile& profile_;
  const Family& family_;
  const FamilyRows& rows_;
  store::RowId run_;
  std::vector<std::string> states_;  ///< of the arms' brackets
  std::vector<Position> todo_;
  std::vector<FamilyAnswer> answers_;
};

std::vector<int> FamilyRun::live() const {
  std::vector<int> out;
  for (const int v : family_.variants()) {
    if (states_[static_cast<std::size_t>(v) - 1] != "void") out.push_back(v);
  }
  return out;
}

bool FamilyRun::is_asked(int stage) const {
  const auto arms = live();
  return std::any_of(arms.begin(), arms.end(), [&](int v) { return family_.arm(v).stage == stage; });
}

Status FamilyRun::load() {
  todo_.assign(family_.order.size(), {});
  BK_ASSIGN(const auto members, db_.family_members(rows_.whole.id));
  for (const store::BracketRow& arm : rows_.arms) {
    BK_TRY(end_stale_boots(db_, arm.id));  // the shared base boots are among them
    BK_ASSIGN(const auto seen, positions(db_, arm.id, todo_.size()));
    for (std::size_t i = 0; i < seen.size(); ++i) {
      todo_[i].done = todo_[i].done || seen[i].done;
      todo_[i].attempts = std::max(todo_[i].attempts, seen[i].attempts);
    }
    const auto member =
        std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.bracket.id == arm.id; });
    states_.push_back(member == members.end() ? arm.state : member->bracket.state);
  }
  return {};
}

Result<VoidCause> FamilyRun::boot_at(std::size_t position) {
  const int variant = family_.order[position].variant;
  const bool base = variant == 0;
  const Plan& plan = base ? family_.whole : family_.arm(variant).plan;
  BootSlot slot{plan,
                row_of(variant),
                base ? stats::Arm::kBase : stats::Arm::kCand,
                static_cast<int>(position),
                static_cast<int>(family_.order.size()),
                todo_[position].attempts,
                base ? "base" : family_.name(variant),
                {&plan}};
  if (base) {
    for (const int v : live()) slot.proven.push_back(&family_.arm(v).plan);
  } else if (state_of(variant) != "running") {
    BK_TRY(db_.set_bracket_state(row_of(variant), "running"));
    state_of(variant) = "running";
  }
  BK_ASSIGN(auto before, finished_evidence(db_, row_of(variant)));
  OneBoot boot{tools_, profile_, std::move(slot), run_, std::move(before)};
  BK_ASSIGN(VoidCause cause, boot.run());
  return cause;
}

Result<VoidCause> FamilyRun::boots_of_stage(int stage) {
  for (std::size_t i = 0; i < family_.order.size(); ++i) {
    const FamilyStep& step = family_.order[i];
    if (step.stage != stage || todo_[i].done) continue;
    if (step.variant > 0 && state_of(step.variant) == "void") continue;
    if (!is_asked(stage)) return VoidCause{};  // nothing of the stage is left to compare the base with
    if (tools_.stopped && tools_.stopped()) return fail(Errc::kInterrupted, "interrupted between two boots");
    BK_ASSIGN(const VoidCause cause, boot_at(i));
    if (cause && step.variant == 0) return cause;
    if (cause) {
      BK_TRY(void_arm(step.variant, cause));
      tools_.watcher.warn(fmt::format("{} is void: {}", family_.name(step.variant), cause.sentence));
      if (live().empty()) return cause;
    }
  }
  return VoidCause{};
}

Status FamilyRun::void_bracket(const Plan& plan, store::RowId bracket, const VoidCause& cause) {
  Judgement judgement;
  judgement.assessment = stats::void_assessment(cause.reason, cause.sentence);
  BK_TRY(db_.add_assessment(to_row(judgement, plan, bracket)));
  return db_.set_bracket_state(bracket, "void", cause.reason);
}

Status FamilyRun::void_arm(int variant, const VoidCause& cause) {
  BK_TRY(void_bracket(family_.arm(variant).plan, row_of(variant), cause));
  state_of(variant) = "void";
  return {};
}

Result<FamilyOutcome> FamilyRun::void_all(const VoidCause& cause) {
  for (const int v : live()) BK_TRY(void_arm(v, cause));
  BK_TRY(void_bracket(family_.whole, rows_.whole.id, cause));
  return FamilyOutcome{0, true};
}

/// Judged again when it was before: the boots are the same, and so is the answer.
Status FamilyRun::end_stage(int stage) {
  BK_ASSIGN(const auto values, family_values(db_, family_, rows_, live(), stage));
  BK_ASSIGN(auto answers, judge_stage(db_, family_, rows_, values, live(), stage));
  for (FamilyAnswer& answer : answers) {
    const int v = answer.question.variant;
    if (!answer.question.interaction && state_of(v) != "done") {
      Judgement judgement{answer.comparison.assessment, {}, {}};
      std::vector<stats::BootValues> both;
      std::copy_if(values.begin(), values.end(), std::back_inserter(both),
                   [&](const auto& b) { return b.variant == 0 || b.variant == v; });
      judgement.historical = stats::historical_rule(both, family_.whole.better);
      store::AssessmentRow row = to_row(judgement, family_.arm(v).plan, row_of(v));
      Json detail = Json::object();
      detail.set("assessment", stats::to_json(judgement.assessment));
      detail.set("historical", stats::to_json(judgement.historical))
          .set("family", Json::object().set("alpha", answer.comparison.alpha));
      row.detail_json = detail.dump();
      BK_TRY(store_greedy(db_, row_of(v)));
      BK_TRY(db_.add_assessment(row));
      BK_TRY(db_.set_bracket_state(row_of(v), "done"));
      state_of(v) = "done";
    }
    answers_.push_back(std::move(answer));
  }
  return {};
}

Result<std::string> FamilyRun::why_not_passed(int variant) {
  const std::string name = family_.name(variant);
  if (state_of(variant) == "void") return name + " alone is void";
  BK_ASSIGN(const auto boots, db_.boots(row_of(variant)));
  for (const store::BootRow& boot : boots) {
    if (boot.bracket_id != row_of(variant) || boot.state != "done") continue;
    BK_ASSIGN(const auto legs, db_.legs(boot.id));
    for (const store::LegRow& leg : legs) {
      BK_ASSIGN(const auto gates, db_.leg_gates(leg.id));
      for (const store::GateRow& gate : gates) {
        if (gate.verdict != "pass") {
          return fmt::format("{} alone did not pass {} ({} of {})", name, gate.name, gate.passed, gate.asked);
        }
      }
    }
  }
  for (const FamilyAnswer& answer : answers_) {
    if (answer.question.variant == variant && answer.comparison.assessment.state == stats::State::kWorse) {
      return name + " alone measured worse";
    }
  }
  return std::string();
}

Status FamilyRun::close_combined() {
  for (const int v : live()) {
    const FamilyArm& arm = family_.arm(v);
    if (arm.singles.empty() || state_of(v) == "done") continue;
    std::vector<std::string> causes;
    for (const int single : arm.singles) {
      BK_ASSIGN(const std::string why, why_not_passed(single));
      if (!why.empty()) causes.push_back(why);
    }
    if (causes.empty()) continue;
    const std::string sentence = fmt::format("{} was not booted: {}.", arm.name(), join(causes, "; "));
    BK_TRY(void_arm(v, {"single_arm_not_passed", sentence}));
    tools_.watcher.warn(sentence);
  }
  return {};
}

Result<FamilyOutcome> FamilyRun::finish() {
  BK_ASSIGN(const FamilyJudgement judgement, judge_family(db_, family_, rows_, live(), answers_));
  store::AssessmentRow row = to_row({judgement.assessment, {}, {}}, family_.whole, rows_.whole.id);
  row.detail_json = Json::object().set("family", judgement.detail).dump();
  BK_TRY(db_.add_assessment(row));
  BK_TRY(db_.set_bracket_state(rows_.whole.id, "done"));
  return FamilyOutcome{static_cast<int>(live().size()), false};
}

Result<FamilyOutcome> FamilyRun::run() {
  BK_TRY(db_.set_bracket_state(rows_.whole.id, "running"));
  BK_TRY(load());
  for (int stage = 1; stage <= family_.stages(); ++stage) {
    if (stage > 1) BK_TRY(close_combined());
    if (!is_asked(stage)) continue;
    BK_ASSIGN(const VoidCause cause, boots_of_stage(stage));
    if (cause) return void_all(cause);
    BK_TRY(end_stage(stage));
  }
  return finish();
}

Status FamilyRun::leave_resumable(const Error& error) {
  const std::string state = error.code == Errc::kInterrupted ? "interrupted" : "failed";
  BK_TRY(db_.set_bracket_state(rows_.whole.id, state, error.text()));
  for (const int v : family_.variants()) {
    const bool begun = states_.size() >= static_cast<std::size_t>(v) && state_of(v) == "running";
    if (begun) BK_TRY(db_.set_bracket_state(row_of(v), state, error.text()));
  }
  return fail(error);
}

}  // namespace

Result<FamilyRows> store_family(store::Database& database, const Family& family, const std::string& reopen) {
  std::vector<std::pair<store::PlanRow, store::BracketRow>> brackets{plan_rows(family.whole, reopen)};
  for (const FamilyArm& arm : family.arms) {
    brackets.push_back(plan_rows(arm.plan, reopen));
    // Lists are by time: the whole first, its comparisons in their order.
    brackets.back().second.created_wall = brackets.front().second.created_wall + static_cast<Nanos>(brackets.size());
  }
  brackets.front().second.uid = store::new_uid();
  BK_ASSIGN(const auto ids, database.create_family(brackets));
  BK_ASSIGN(const store::BracketSummary whole, database.bracket(brackets.front().second.uid));
  return family_rows(database, family, whole.bracket);
}

Result<FamilyRows> family_rows(store::Database& database, const Family& family, const store::BracketRow& whole) {
  FamilyRows rows{whole, {}};
  BK_ASSIGN(const auto members, database.family_members(whole.id));
  for (const store::BracketSummary& member : members) rows.arms.push_back(member.bracket);
  if (rows.arms.size() != family.arms.size()) {
    return fail(Errc::kMismatch, "comparisons of the family are missing in the database", store::short_uid(whole.uid));
  }
  for (std::size_t i = 0; i < rows.arms.size(); ++i) {
    BK_ASSIGN(const Plan plan, stored_plan(database, rows.arms[i]));
    if (plan.cand_hash != family.arms[i].plan.cand_hash) {
      return fail(Errc::kMismatch, "a stored comparison is not what the plan says", store::short_uid(rows.arms[i].uid));
    }
  }
  return rows;
}

Result<FamilyOutcome> execute_family(const Tools& tools, const boot::Profile& profile, const Family& family,
                                     const FamilyRows& rows, store::RowId run) {
  FamilyRun go(tools, profile, family, rows, run);
  auto outcome = go.run();
  if (!outcome) {
    BK_TRY(go.leave_resumable(outcome.error()));
  }
  return outcome;
}

}  // namespace bk::bracket
