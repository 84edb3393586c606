#include "bracket/family_judge.h"

#include <algorithm>

#include "base/text.h"
#include "bracket/assess_bracket.h"
#include "bracket/history.h"
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

std::size_t boots_until(const Family& family, int stage) {
  return static_cast<std::size_t>(
      std::count_if(family.order.begin(), family.order.end(), [&](const FamilyStep& s) { return s.stage <= stage; }));
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

}  // namespace

Result<std::vector<stats::BootValues>> family_values(store::Database& database, const Family& family,
                                                     const FamilyRows& rows, const std::vector<int>& live, int stage) {
  const auto until = static_cast<std::int64_t>(boots_until(family, stage));
  std::vector<stats::BootValues> out;
  const auto add = [&](int variant, const store::BracketRow& row) -> Status {
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
  BK_TRY(add(0, rows.whole));
  for (const int v : live) BK_TRY(add(v, rows.arms[static_cast<std::size_t>(v) - 1]));
  return out;
}

Result<std::vector<FamilyAnswer>> judge_stage(store::Database& database, const Family& family, const FamilyRows& rows,
                                              const std::vector<stats::BootValues>& values,
                                              const std::vector<int>& live, int stage) {
  std::vector<FamilyAnswer> out;
  std::vector<stats::Contrast> contrasts;
  const auto planned = questions(family);
  for (const FamilyQuestion& question : planned) {
    if (question.stage != stage || !is_answerable(question, live)) continue;
    contrasts.push_back(question.contrast);
    out.push_back({question, {}});
  }
  if (out.empty()) return out;
  BK_ASSIGN(const BaseHistory history, base_history(database, family.whole, rows.whole.id));
  stats::Rules rules = family.whole.rules();
  rules.alpha *= static_cast<double>(out.size()) / static_cast<double>(planned.size());
  auto comparisons = stats::assess_family(values, contrasts, rules, history.groups);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].comparison = std::move(comparisons[i]);
    stats::Assessment& a = out[i].comparison.assessment;
    if (out[i].question.interaction) {
      a.sentence = interaction_sentence(a, family.name(out[i].question.variant), rules.band);
    }
    a.sentence += family_sentence(out[i], family);
    const std::string earlier = history_text(history, family.whole.profile);
    if (!earlier.empty()) a.sentence += " " + earlier;
  }
  return out;
}

Result<FamilyJudgement> judge_family(store::Database& database, const Family& family, const FamilyRows& rows,
                                     const std::vector<int>& live, const std::vector<FamilyAnswer>& answers) {
  FamilyJudgement out;
  Json all = Json::array();
  for (const FamilyAnswer& answer : answers) all.push(to_json(answer, family));
  out.detail = Json::object().set("answers", std::move(all)).set("peak", Json());
  if (family.spec.kind == FamilySpec::Kind::kMatrix) {
    if (const FamilyAnswer* interaction = clearest(answers, true)) {
      out.assessment = interaction->comparison.assessment;
    } else {
      const char* reason = "combined_arm_not_measured";
      stats::Estimates& e = out.assessment.estimates;
      for (stats::Effect* effect : {&e.raw, &e.equal_acceptance, &e.acceptance, &e.drift}) effect->reason = reason;
      out.assessment.reason = reason;
      out.assessment.sentence = "No combined arm was measured, so that no interaction is known.";
    }
    return out;
  }
  BK_ASSIGN(const auto values, family_values(database, family, rows, live, family.stages()));
  BK_ASSIGN(const BaseHistory history, base_history(database, family.whole, rows.whole.id));
  const stats::Peak peak = stats::find_peak(values, live, family.whole.rules(), history.groups);
  const FamilyAnswer* answer = peak.best > 0 ? answer_of(answers, peak.best) : clearest(answers, false);
  if (answer != nullptr) out.assessment = answer->comparison.assessment;
  out.assessment.sentence = peak_sentence(peak, family, family.whole.options.alpha);
  out.detail.set("peak", peak_json(peak, family, live));
  return out;
}

Json to_json(const FamilyAnswer& answer, const Family& family) {
  Json j = Json::object();
  j.set("arm", family.name(answer.question.variant)).set("variant", answer.question.variant);
  j.set("question", answer.question.interaction ? "interaction" : "against_base");
  return j.set("alpha", answer.comparison.alpha).set("assessment", stats::to_json(answer.comparison.assessment));
}

}  // namespace bk::bracket
