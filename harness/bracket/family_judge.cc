#include "bracket/family_judge.h"

#include <algorithm>

#include "base/text.h"
#include "bracket/stored_plan.h"
#include "stats/assessment_json.h"

namespace bk::bracket {
namespace {

bool is_live(const std::vector<int>& live, int variant) {
  return variant == 0 || std::find(live.begin(), live.end(), variant) != live.end();
}

bool is_answerable(const FamilyQuestion& question, const std::vector<int>& live) {
  for (std::size_t v = 0; v < question.contrast.size(); ++v) {
    if (question.contrast[v] != 0 && !is_live(live, static_cast<int>(v))) return false;
  }
  return true;
}

/// The last position of a stage, plus one: later boots are none of its.
std::int64_t boots_until(const Family& family, int stage) {
  return std::count_if(family.order.begin(), family.order.end(), [&](const FamilyStep& s) { return s.stage <= stage; });
}

const store::BracketRow& row_of(const FamilyRows& rows, int variant) {
  return variant == 0 ? rows.whole : rows.arms[static_cast<std::size_t>(variant) - 1];
}

std::string interval_of(const stats::Effect& e) {
  if (!e.estimate) return "an unknown effect (" + e.reason + ")";
  if (!e.half_width) return fmt::format("{:+.2f} % (no interval: {})", stats::to_pct(*e.estimate), e.reason);
  return fmt::format("{:+.2f} % [{:+.2f}, {:+.2f}]", stats::to_pct(*e.estimate),
                     stats::to_pct(*e.estimate - *e.half_width), stats::to_pct(*e.estimate + *e.half_width));
}

std::string interaction_sentence(const stats::Assessment& a, const std::string& name, double band) {
  const std::string seen = interval_of(stats::deciding(a));
  switch (a.state) {
    case stats::State::kBetter:
      return fmt::format("{} together is better than the sum of its knobs alone: {}.", name, seen);
    case stats::State::kWorse:
      return fmt::format("{} together is worse than the sum of its knobs alone: {}.", name, seen);
    case stats::State::kSame:
      return fmt::format(
          "The effects of {} add up: what they do beyond their sum, {}, lies inside the band of {:.2g} %.", name, seen,
          100 * band);
    case stats::State::kInconclusive:
    case stats::State::kVoid:
      break;
  }
  return fmt::format("Whether the effects of {} add up is open: {} beyond their sum ({}).", name, seen, a.reason);
}

/// What belongs to being one question of several.
std::string family_sentence(const FamilyAnswer& answer, const Family& family) {
  const std::size_t all = questions(family).size();
  return fmt::format(" One of {} questions of a {}, asked at alpha {:.2g}.", all, to_string(family.spec.kind),
                     answer.comparison.alpha);
}

Json peak_json(const stats::Peak& peak, const Family& family, const std::vector<int>& live) {
  Json tied = Json::array(), curve = Json::array();
  for (const int v : peak.tied) tied.push(family.name(v));
  for (const int v : live) {
    Json point = Json::object().set("arm", family.name(v));
    const Json effect = stats::to_json(peak.curve[static_cast<std::size_t>(v)]);
    for (const auto& [key, value] : effect.members()) point.set(key, value);
    curve.push(std::move(point));
  }
  Json j = Json::object();
  j.set("arm", family.name(peak.best)).set("basis", to_string(peak.basis)).set("may_be_best", std::move(tied));
  return j.set("curve", std::move(curve));
}

std::string peak_sentence(const stats::Peak& peak, const Family& family, double alpha) {
  std::vector<std::string> tied;
  tied.reserve(peak.tied.size());
  for (const int v : peak.tied) tied.push_back(family.name(v));
  std::string text = peak.best == 0
                         ? fmt::format("No value measured better than the base, {}", family.name(0))
                         : fmt::format("{} measured best: {} against {}", family.name(peak.best),
                                       interval_of(peak.curve[static_cast<std::size_t>(peak.best)]), family.name(0));
  if (peak.basis == stats::Basis::kEqualAcceptance) text += ", at equal acceptance";
  if (tied.size() == 1) return text + fmt::format("; at {:g} % no other value may be best.", 100 * (1 - alpha));
  return text + fmt::format("; not told from the best at {:g} %: {}.", 100 * (1 - alpha), join(tied, ", "));
}

const FamilyAnswer* answer_of(const std::vector<FamilyAnswer>& answers, int variant) {
  const auto it = std::find_if(answers.begin(), answers.end(), [&](const FamilyAnswer& a) {
    return a.question.variant == variant && !a.question.interaction;
  });
  return it == answers.end() ? nullptr : &*it;
}

const FamilyAnswer* clearest(const std::vector<FamilyAnswer>& answers, bool interaction) {
  const FamilyAnswer* best = nullptr;
  for (const FamilyAnswer& a : answers) {
    if (a.question.interaction != interaction) continue;
    const auto p = a.comparison.assessment.p_adjusted;
    if (best == nullptr || p.value_or(1) < best->comparison.assessment.p_adjusted.value_or(1)) best = &a;
  }
  return best;
}

/// Boots done before the stage's end of the arms in `live` and of the base.
Result<std::vector<stats::BootValues>> family_values(store::Database& database, const Family& family,
                                                     const FamilyRows& rows, const std::vector<int>& live, int stage) {
  const std::int64_t until = boots_until(family, stage);
  std::vector<stats::BootValues> out;
  const auto add = [&](int variant) -> Status {
    const store::BracketRow& row = row_of(rows, variant);
    BK_ASSIGN(const auto boots, database.boots(row.id));
    BK_ASSIGN(const auto points, database.metric_points(row.id, family.whole.metric, family.whole.cell));
    for (const store::BootRow& boot : boots) {
      if (boot.bracket_id != row.id || boot.state != "done" || boot.position >= until) continue;
      stats::BootValues values = values_of_boot(boot, points);
      values.variant = variant;
      out.push_back(std::move(values));
    }
    return {};
  };
  BK_TRY(add(0));
  for (const int v : live) BK_TRY(add(v));
  return out;
}

/// An arm's own assessment, with the older rule's answer beside it.
store::AssessmentRow arm_row(const FamilyAnswer& answer, const Family& family, const FamilyRows& rows,
                             const std::vector<stats::BootValues>& values, const BaseHistory& history) {
  const int v = answer.question.variant;
  std::vector<stats::BootValues> both;
  std::copy_if(values.begin(), values.end(), std::back_inserter(both),
               [&](const auto& b) { return b.variant == 0 || b.variant == v; });
  const Judgement judgement{answer.comparison.assessment, stats::historical_rule(both, family.whole.better),
                            to_json(history), Json::object().set("alpha", answer.comparison.alpha)};
  return to_row(judgement, family.arm(v).plan, row_of(rows, v).id);
}

void add_text(FamilyAnswer& answer, const Family& family, const BaseHistory& history) {
  stats::Assessment& a = answer.comparison.assessment;
  if (answer.question.interaction) {
    a.sentence = interaction_sentence(a, family.name(answer.question.variant), family.whole.options.band);
  }
  a.sentence += family_sentence(answer, family);
  const std::string earlier = history_text(history, family.whole.profile);
  if (!earlier.empty()) a.sentence += " " + earlier;
}

stats::Assessment no_interaction() {
  const char* reason = "combined_arm_not_measured";
  stats::Assessment out;
  stats::Estimates& e = out.estimates;
  for (stats::Effect* effect : {&e.raw, &e.equal_acceptance, &e.acceptance, &e.drift}) effect->reason = reason;
  out.reason = reason;
  out.sentence = "No combined arm was measured, so that no interaction is known.";
  return out;
}

/// Why a single arm did not pass; empty when it did.
Result<std::string> why_not_passed(store::Database& database, const Family& family, const FamilyRows& rows,
                                   const std::string& state, const std::vector<FamilyAnswer>& answers, int variant) {
  const std::string name = family.name(variant);
  if (state == "void") return name + " alone is void";
  const store::RowId bracket = row_of(rows, variant).id;
  BK_ASSIGN(const auto gates, database.boot_gates(bracket));
  BK_ASSIGN(const auto boots, database.boots_briefly(bracket));
  for (const auto& [boot, gate] : gates) {
    const bool done = std::any_of(boots.begin(), boots.end(),
                                  [&, &id = boot](const auto& b) { return b.id == id && b.state == "done"; });
    if (done && gate.verdict != "pass") {
      return fmt::format("{} alone did not pass {} ({} of {})", name, gate.name, gate.passed, gate.asked);
    }
  }
  const FamilyAnswer* answer = answer_of(answers, variant);
  const bool worse = answer != nullptr && answer->comparison.assessment.state == stats::State::kWorse;
  return worse ? name + " alone measured worse" : std::string();
}

}  // namespace

Result<StoredFamily> stored_family(store::Database& database, const store::BracketRow& whole) {
  StoredFamily out;
  out.rows.whole = whole;
  BK_ASSIGN(const Plan plan, stored_plan(database, whole));
  BK_ASSIGN(const auto members, database.family_members(whole.id));
  std::vector<Plan> comparisons;
  for (const store::BracketSummary& member : members) {
    BK_ASSIGN(Plan one, stored_plan(database, member.bracket));
    comparisons.push_back(std::move(one));
    out.rows.arms.push_back(member.bracket);
  }
  BK_ASSIGN(out.family, family_of(plan, comparisons));
  return out;
}

Result<BaseHistory> stage_history(EarlierBoots& earlier, store::Database& database, const Family& family,
                                  const FamilyRows& rows, int stage) {
  const std::int64_t until = boots_until(family, stage);
  for (const int v : family.variants()) {
    if (family.arm(v).stage != stage) continue;
    BK_ASSIGN(const store::BracketSummary arm, database.bracket_by_id(row_of(rows, v).id));
    if (arm.bracket.state != "done" || !arm.assessment) continue;
    return earlier.history_of(*arm.assessment, family.whole, rows.whole.id, until);
  }
  BK_ASSIGN(const auto newest, earlier_boots(database, family.whole, rows.whole.id));
  return base_history(database, family.whole, rows.whole.id, newest, until);
}

Result<StageJudgement> judge_stage(store::Database& database, const Family& family, const FamilyRows& rows,
                                   const BaseHistory& history, const std::vector<int>& live, int stage) {
  StageJudgement out;
  std::vector<stats::Contrast> contrasts;
  const auto planned = questions(family);
  for (const FamilyQuestion& question : planned) {
    if (question.stage != stage || !is_answerable(question, live)) continue;
    contrasts.push_back(question.contrast);
    out.answers.push_back({question, {}});
  }
  if (out.answers.empty()) return out;
  BK_ASSIGN(const auto values, family_values(database, family, rows, live, stage));
  stats::Rules rules = family.whole.rules();
  rules.alpha *= static_cast<double>(out.answers.size()) / static_cast<double>(planned.size());
  auto comparisons = stats::assess_family(values, contrasts, rules, history.groups);
  for (std::size_t i = 0; i < out.answers.size(); ++i) {
    FamilyAnswer& answer = out.answers[i];
    answer.comparison = std::move(comparisons[i]);
    add_text(answer, family, history);
    if (answer.question.interaction) continue;
    out.rows.push_back({answer.question.variant, arm_row(answer, family, rows, values, history)});
  }
  return out;
}

Result<Judgement> judge_family(store::Database& database, const Family& family, const FamilyRows& rows,
                               const BaseHistory& history, const std::vector<int>& live,
                               const std::vector<FamilyAnswer>& answers) {
  Judgement out;
  out.history = to_json(history);
  Json all = Json::array();
  for (const FamilyAnswer& answer : answers) all.push(to_json(answer, family));
  out.family = Json::object().set("answers", std::move(all)).set("peak", Json());
  if (family.spec.kind == FamilySpec::Kind::kMatrix) {
    const FamilyAnswer* interaction = clearest(answers, true);
    out.assessment = interaction == nullptr ? no_interaction() : interaction->comparison.assessment;
    return out;
  }
  BK_ASSIGN(const auto values, family_values(database, family, rows, live, family.stages()));
  const stats::Peak peak = stats::find_peak(values, live, family.whole.rules(), history.groups);
  const FamilyAnswer* answer = peak.best > 0 ? answer_of(answers, peak.best) : clearest(answers, false);
  if (answer != nullptr) out.assessment = answer->comparison.assessment;
  out.assessment.sentence = peak_sentence(peak, family, family.whole.options.alpha);
  out.family.set("peak", peak_json(peak, family, live));
  return out;
}

Result<std::string> why_not_booted(store::Database& database, const Family& family, const FamilyRows& rows,
                                   const std::vector<std::string>& states, const std::vector<FamilyAnswer>& answers,
                                   int variant) {
  const FamilyArm& arm = family.arm(variant);
  std::vector<std::string> causes;
  for (const int single : arm.singles) {
    const std::string& state = states[static_cast<std::size_t>(single) - 1];
    BK_ASSIGN(std::string why, why_not_passed(database, family, rows, state, answers, single));
    if (!why.empty()) causes.push_back(std::move(why));
  }
  if (causes.empty()) return std::string();
  return fmt::format("{} was not booted: {}.", arm.name(), join(causes, "; "));
}

store::AssessmentRow void_row(const Plan& plan, store::RowId bracket, const std::string& reason,
                              const std::string& sentence) {
  Judgement judgement;
  judgement.assessment = stats::void_assessment(reason, sentence);
  return to_row(judgement, plan, bracket);
}

Json to_json(const FamilyAnswer& answer, const Family& family) {
  Json j = Json::object();
  j.set("arm", family.name(answer.question.variant)).set("variant", answer.question.variant);
  j.set("question", answer.question.interaction ? "interaction" : "against_base");
  return j.set("alpha", answer.comparison.alpha).set("assessment", stats::to_json(answer.comparison.assessment));
}

}  // namespace bk::bracket
