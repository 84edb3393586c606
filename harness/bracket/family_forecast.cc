#include "bracket/family_forecast.h"

#include "bracket/execute.h"
#include "stats/power.h"

namespace bk::bracket {
namespace {

void fill(FamilyForecast& out, const Family& family) {
  const auto all = questions(family);
  stats::Rules rules = family.whole.rules();
  rules.alpha /= static_cast<double>(all.size());
  out.alpha = rules.alpha;
  for (const FamilyQuestion& question : all) {
    std::vector<int> variants;
    for (const FamilyStep& step : family.order) {
      if (step.stage <= question.stage) variants.push_back(step.variant);
    }
    QuestionForecast& line = out.questions.emplace_back(QuestionForecast{question, {}, {}});
    const auto design = stats::design_of(variants, question.contrast, out.noise.sd, out.noise.df, rules);
    if (design) {
      line.resolves = stats::resolution(*design, rules);
      if (!line.resolves) line.reason = "too_few_degrees_of_freedom";
    } else {
      line.reason = "no_degrees_of_freedom";
    }
  }
}

}  // namespace

Result<FamilyForecast> forecast(store::Database& database, const Family& family) {
  FamilyForecast out;
  BK_ASSIGN(const BaseHistory history, base_history(database, family.whole, std::nullopt));
  out.noise = boot_noise(history, family.whole);
  BK_ASSIGN(const auto seconds, estimated_seconds(database, family.whole));
  if (seconds) {
    const double bases = static_cast<double>(family.whole.order.size());
    out.seconds = *seconds * static_cast<double>(family.order.size()) / bases;
  }
  fill(out, family);
  return out;
}

FamilyForecast forecast_without_history(const Family& family) {
  FamilyForecast out;
  fill(out, family);
  return out;
}

}  // namespace bk::bracket
