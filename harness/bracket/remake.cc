#include "bracket/remake.h"

#include <algorithm>

#include "bracket/assess_bracket.h"
#include "bracket/stored_plan.h"

namespace bk::bracket {
namespace {

Remade damaged(std::string why) { return {std::nullopt, std::move(why), true}; }

/// What the bracket's row says of its plan.
std::string plan_difference(const store::BracketRow& row, const Plan& plan) {
  const std::pair<const char*, std::pair<std::string, std::string>> kColumns[] = {
      {"profile", {row.profile, plan.profile}},
      {"axis", {row.axis, plan.axis()}},
      {"knob", {row.knob, plan.knob}},
      {"base_value", {row.base_value, plan.base_value}},
      {"cand_value", {row.cand_value, plan.cand_value}},
      {"primary_metric", {row.primary_metric, plan.metric}},
      {"primary_cell", {row.primary_cell, plan.cell}},
      {"better", {row.better, to_string(plan.better)}}};
  for (const auto& [name, values] : kColumns) {
    if (values.first != values.second) {
      return fmt::format("{} is '{}', by the stored plan '{}'", name, values.first, values.second);
    }
  }
  return {};
}

/// The last void boot among a bracket's own; nothing when none of them is.
Result<std::optional<store::BootRow>> void_boot(store::Database& database, store::RowId bracket) {
  BK_ASSIGN(const auto boots, database.boots_briefly(bracket));
  const auto found = std::find_if(boots.rbegin(), boots.rend(), [](const auto& boot) { return boot.state == "void"; });
  return found == boots.rend() ? std::nullopt : std::optional(*found);
}

/// The boot that voided a whole family: a base boot, else the last void one of its arms.
Result<std::optional<store::BootRow>> void_boot_of(store::Database& database, const FamilyRows& rows) {
  BK_ASSIGN(auto out, void_boot(database, rows.whole.id));
  if (out) return out;
  for (const store::BracketRow& arm : rows.arms) {
    BK_ASSIGN(auto own, void_boot(database, arm.id));
    if (own && (!out || own->position > out->position)) out = std::move(own);
  }
  return out;
}

/// One family as its brackets stand, stage by stage.
class FamilyAgain {
 public:
  FamilyAgain(store::Database& database, EarlierBoots& earlier, const StoredFamily& stored)
      : database_(database), earlier_(earlier), family_(stored.family), rows_(stored.rows) {
    for (const store::BracketRow& arm : rows_.arms) states_.push_back(arm.state);
  }

  /// Every member's assessment, by its bracket. kUnavailable: earlier boots are missing; kMismatch: a bracket is void
  /// and no boot says why.
  Result<std::map<store::RowId, store::AssessmentRow>> run() {
    for (int stage = 1; stage <= family_.stages(); ++stage) BK_TRY(run_stage(stage));
    for (const int v : family_.variants()) {
      if (state_of(v) == "void") BK_TRY(add_void(v));
    }
    if (rows_.whole.state == "void") {
      BK_ASSIGN(const auto boot, void_boot_of(database_, rows_));
      if (!boot) return fail(Errc::kMismatch, "state is 'void', by the boots none of them is");
      out_.insert_or_assign(rows_.whole.id, void_row(family_.whole, rows_.whole.id, rows_.whole.reason, boot->reason));
    } else if (rows_.whole.state == "done") {
      BK_ASSIGN(const Judgement judgement, judge_family(database_, family_, rows_, history_, live(), answers_));
      out_.insert_or_assign(rows_.whole.id, to_row(judgement, family_.whole, rows_.whole.id));
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] const std::string& state_of(int variant) const {
    return states_[static_cast<std::size_t>(variant) - 1];
  }
  [[nodiscard]] std::vector<int> live() const {
    std::vector<int> out = family_.variants();
    out.erase(std::remove_if(out.begin(), out.end(), [&](int v) { return state_of(v) == "void"; }), out.end());
    return out;
  }
  Status run_stage(int stage) {
    const auto arms = live();
    const bool judged = std::any_of(arms.begin(), arms.end(),
                                    [&](int v) { return family_.arm(v).stage == stage && state_of(v) == "done"; });
    if (!judged) return {};
    BK_ASSIGN(history_, stage_history(earlier_, database_, family_, rows_, stage));
    BK_ASSIGN(auto judgement, judge_stage(database_, family_, rows_, history_, arms, stage));
    for (StageRow& row : judgement.rows) out_.insert_or_assign(row.assessment.bracket_id, std::move(row.assessment));
    answers_.insert(answers_.end(), std::make_move_iterator(judgement.answers.begin()),
                    std::make_move_iterator(judgement.answers.end()));
    return {};
  }
  /// Why an arm is void stands in its own void boot, in the single arms that it combines, or in a boot of the base.
  Status add_void(int variant) {
    const store::BracketRow& row = rows_.arms[static_cast<std::size_t>(variant) - 1];
    BK_ASSIGN(auto boot, void_boot(database_, row.id));
    std::string sentence = boot ? boot->reason : std::string();
    if (!boot && row.reason == kSingleNotPassed) {
      BK_ASSIGN(sentence, why_not_booted(database_, family_, rows_, states_, answers_, variant));
    } else if (!boot) {
      BK_ASSIGN(boot, void_boot_of(database_, rows_));
      if (boot) sentence = boot->reason;
    }
    if (sentence.empty()) return fail(Errc::kMismatch, "state is 'void', by the boots none of them is");
    out_.insert_or_assign(row.id, void_row(family_.arm(variant).plan, row.id, row.reason, sentence));
    return {};
  }

  store::Database& database_;
  EarlierBoots& earlier_;
  const Family& family_;
  const FamilyRows& rows_;
  std::vector<std::string> states_;  ///< of the arms' brackets
  std::vector<FamilyAnswer> answers_;
  BaseHistory history_;
  std::map<store::RowId, store::AssessmentRow> out_;
};

/// Errors of reading stay errors; any other says why there is nothing to compare.
Result<Remade> as_remade(const Error& error) {
  if (error.code == Errc::kIo) return fail(error);
  return Remade{std::nullopt, error.what, error.code == Errc::kMismatch};
}

}  // namespace

Result<Remade> Remaker::remake_done(const store::BracketSummary& summary, const Plan& plan) {
  const store::RowId id = summary.bracket.id;
  const auto history = earlier_.history_of(*summary.assessment, plan, id);
  if (!history) return as_remade(history.error());
  BK_ASSIGN(const Judgement judgement, judge_bracket(database_, id, plan, *history));
  return Remade{to_row(judgement, plan, id), {}, false};
}

Result<Remade> Remaker::remake_void(const store::BracketSummary& summary, const Plan& plan) {
  const store::RowId id = summary.bracket.id;
  BK_ASSIGN(const auto shown, void_boot(database_, id));
  if (!shown) return damaged("state is 'void', by the boots none of them is");
  BK_ASSIGN(Judgement judgement, judge_bracket(database_, id, plan, BaseHistory{}));
  judgement.assessment = stats::void_assessment(summary.bracket.reason, shown->reason);
  const std::string& stored = summary.assessment->detail_json;
  judgement.history =
      parse_json(stored.empty() ? "{}" : stored).value_or(Json())["history"];  // nothing was judged by it
  return Remade{to_row(judgement, plan, id), {}, false};
}

Result<Remade> Remaker::remake_member(const store::BracketSummary& summary) {
  const store::RowId whole = summary.bracket.family_id.value_or(summary.bracket.id);
  if (family_.whole != whole) {
    BK_ASSIGN(const store::BracketSummary row, database_.bracket_by_id(whole));
    family_ = {whole, Remade{}, {}};
    auto rows = all_of_family(row.bracket);
    if (rows) {
      family_.rows = std::move(*rows);
    } else {
      BK_ASSIGN(family_.otherwise, as_remade(rows.error()));
    }
  }
  const auto found = family_.rows.find(summary.bracket.id);
  if (found == family_.rows.end()) return family_.otherwise;
  return Remade{found->second, {}, false};
}

Result<std::map<store::RowId, store::AssessmentRow>> Remaker::all_of_family(const store::BracketRow& whole) {
  BK_ASSIGN(const StoredFamily stored, stored_family(database_, whole));
  return FamilyAgain(database_, earlier_, stored).run();
}

Result<Remade> Remaker::remake(const store::BracketSummary& summary) {
  const store::BracketRow& bracket = summary.bracket;
  if (!bracket.plan_id || (bracket.state != "done" && bracket.state != "void")) return Remade{};
  const auto plan = stored_plan(database_, bracket);
  if (!plan) return as_remade(plan.error());
  if (std::string found = plan_difference(bracket, *plan); !found.empty()) return damaged(std::move(found));
  const bool member = bracket.family_id || is_family(*plan);
  if (!member && plan->is_baseline() && bracket.state == "done") return Remade{};
  if (!summary.assessment) return damaged("the assessment is gone");
  if (member) return remake_member(summary);
  return bracket.state == "void" ? remake_void(summary, *plan) : remake_done(summary, *plan);
}

}  // namespace bk::bracket
