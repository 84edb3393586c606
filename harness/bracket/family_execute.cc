#include "bracket/family_execute.h"

#include <algorithm>
#include <array>

#include "bracket/greedy.h"
#include "bracket/one_boot.h"
#include "bracket/stored_boots.h"

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
  BaseHistory history_;  ///< of the last stage that was judged
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
  BK_TRY(db_.add_assessment(void_row(plan, bracket, cause.reason, cause.sentence)));
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

/// Judged again when it was before, by the same earlier boots: the answer is the same.
Status FamilyRun::end_stage(int stage) {
  EarlierBoots earlier(db_);
  BK_ASSIGN(history_, stage_history(earlier, db_, family_, rows_, stage));
  BK_ASSIGN(auto judged, judge_stage(db_, family_, rows_, history_, live(), stage));
  for (const StageRow& row : judged.rows) {
    if (state_of(row.variant) == "done") continue;
    BK_TRY(store_greedy(db_, row_of(row.variant)));
    BK_TRY(db_.add_assessment(row.assessment));
    BK_TRY(db_.set_bracket_state(row_of(row.variant), "done"));
    state_of(row.variant) = "done";
  }
  answers_.insert(answers_.end(), std::make_move_iterator(judged.answers.begin()),
                  std::make_move_iterator(judged.answers.end()));
  return {};
}

Status FamilyRun::close_combined() {
  for (const int v : live()) {
    if (family_.arm(v).singles.empty() || state_of(v) == "done") continue;
    BK_ASSIGN(const std::string sentence, why_not_booted(db_, family_, rows_, states_, answers_, v));
    if (sentence.empty()) continue;
    BK_TRY(void_arm(v, {kSingleNotPassed, sentence}));
    tools_.watcher.warn(sentence);
  }
  return {};
}

Result<FamilyOutcome> FamilyRun::finish() {
  BK_ASSIGN(const Judgement judgement, judge_family(db_, family_, rows_, history_, live(), answers_));
  BK_TRY(db_.add_assessment(to_row(judgement, family_.whole, rows_.whole.id)));
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
  BK_ASSIGN(StoredFamily stored, stored_family(database, whole.bracket));
  return std::move(stored.rows);
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
