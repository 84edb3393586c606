#include "family_text.h"

#include <fmt/ostream.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "judged_text.h"
#include "report/number.h"
#include "report/table.h"
#include "scale.h"
#include "show.h"
#include "tool/session.h"

namespace bk::bracket_tool {
namespace {

using bracket::FamilyArmView;
using bracket::FamilyView;

/// An effect as a row of table and scale shows it.
struct Shown {
  std::optional<double> value, low, high;
  std::string reason;
};

/// Of the effect that an assessment rests on.
Shown shown_of(const Json& assessment) {
  const Json& e = assessment[assessment["basis"].as_string() == "equal_acceptance" ? "equal_acceptance" : "raw"];
  return {e["effect_pct"].as_double(), e["low_pct"].as_double(), e["high_pct"].as_double(),
          e["reason"].as_string().value_or("")};
}

std::string text_of(const Shown& shown) {
  if (!shown.value) return report::kMissing;
  return report::percent_interval(shown.value, shown.low, shown.high);
}

std::string basis_of(const Json& assessment) {
  if (assessment.is_null() || !shown_of(assessment).value) return report::kMissing;
  return assessment["basis"].as_string() == "equal_acceptance" ? "equal acceptance" : "raw";
}

std::string p_of(const Json& assessment) {
  const auto p = assessment["p_adjusted"].as_double();
  return p ? fmt::format("{:.2g}", *p) : report::kMissing;
}

std::string state_of(const Json& assessment, const std::string& otherwise) {
  return assessment["state"].as_string().value_or(otherwise);
}

std::string gates_of(const FamilyArmView& arm) {
  return arm.gates_asked == 0 ? report::kMissing : fmt::format("{}/{}", arm.gates_passed, arm.gates_asked);
}

std::vector<std::string> row_of(const FamilyArmView& arm, bool base) {
  std::optional<double> points;
  if (arm.acceptance) points = 100 * *arm.acceptance;
  std::vector<std::string> row{arm.name, base ? report::kMissing : store::short_uid(arm.summary.bracket.uid),
                               fmt::format("{}", arm.boots_done), report::number(arm.median), report::fixed(points, 1)};
  if (base) {
    row.insert(row.end(), {"(base)", "", "", "", gates_of(arm), ""});
    return row;
  }
  const std::string verdict = arm.summary.verdict ? arm.summary.verdict->word : std::string(report::kMissing);
  row.insert(row.end(), {text_of(shown_of(arm.assessment)), basis_of(arm.assessment), p_of(arm.assessment),
                         state_of(arm.assessment, arm.summary.bracket.state), gates_of(arm), verdict});
  return row;
}

void print_arms(std::ostream& out, const FamilyView& view) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < view.arms.size(); ++i) rows.push_back(row_of(view.arms[i], i == 0));
  const store::BracketRow& b = view.summary.bracket;
  using report::Align;
  const Align l = Align::kLeft, r = Align::kRight;
  out << report::table({"arm", "id", "boots", b.primary_metric + " " + b.primary_cell, "acceptance [%]",
                        "effect against base", "basis", "p (Holm)", "assessment", "gates", "verdict"},
                       {l, l, r, r, r, l, l, r, l, r, l}, rows);
}

struct Bar {
  std::string label;
  Shown shown;
};

/// Every interval on one scale, in the order of the table.
void print_bars(std::ostream& out, const FamilyView& view) {
  std::vector<Bar> bars;
  for (const FamilyArmView& arm : view.arms) {
    if (!arm.assessment.is_null()) bars.push_back({arm.name, shown_of(arm.assessment)});
  }
  for (const Json& answer : view.interactions) {
    bars.push_back({"interaction of " + answer["arm"].as_string().value_or(""), shown_of(answer["assessment"])});
  }
  double reach = 0;
  std::size_t width = 0;
  for (const Bar& b : bars) {
    reach = std::max({reach, std::fabs(b.shown.low.value_or(0)), std::fabs(b.shown.high.value_or(0))});
    width = std::max(width, b.label.size());
  }
  if (!(reach > 0)) return;
  out << '\n';
  const auto line = [&](const std::string& label, const std::string& text) {
    fmt::print(out, "  {:<{}}  {}\n", label, width, text);
  };
  line("", scale_line(reach));
  for (const Bar& b : bars) {
    const Shown& s = b.shown;
    line(b.label, s.value && s.low && s.high ? bar(*s.low, *s.value, *s.high, reach) : "no interval");
  }
}

std::string in_a_row(const std::vector<std::string>& names) { return join(names, " · "); }

/// Why an arm has no answer, and how many boots would give one.
void print_why(std::ostream& out, const FamilyView& view) {
  for (const FamilyArmView& arm : view.arms) {
    const std::string state = state_of(arm.assessment, "");
    if (state == "void") print_line(out, arm.name, arm.assessment["sentence"].as_string().value_or(""));
    if (state != "inconclusive") continue;
    const auto needed = arm.assessment["boots_needed"].as_int();
    print_line(
        out, arm.name,
        fmt::format("open ({}){}", arm.assessment["reason"].as_string().value_or(""),
                    needed ? fmt::format("; a bracket of --boots {} would settle an effect of this size", *needed)
                           : std::string()));
  }
}

}  // namespace

void print_family_plan(std::ostream& out, const bracket::Family& family, const bracket::FamilyForecast& forecast) {
  const bracket::Plan& plan = family.whole;
  fmt::print(out, "plan: {} on profile {}; {} boots of {} arms, base boots shared\n", plan.axis(), plan.profile,
             family.order.size(), family.arms.size() + 1);
  for (int stage = 1; stage <= family.stages(); ++stage) {
    std::vector<std::string> names;
    for (const bracket::FamilyStep& step : family.order) {
      if (step.stage == stage) names.push_back(step.variant == 0 ? "base" : family.name(step.variant));
    }
    const char* what = family.stages() == 1 ? "boots" : stage == 1 ? "single arms" : "combined arms, if these pass";
    fmt::print(out, "plan: {}: {}\n", what, in_a_row(names));
  }
  fmt::print(out, "plan: {}\n", plan_text(plan));
  fmt::print(
      out, "plan: judged by {} at {}, alpha {:g} over {} questions: each starts with {:.2g}; practical band {:g} %\n",
      plan.metric, plan.cell, plan.options.alpha, forecast.questions.size(), forecast.alpha, 100 * plan.options.band);
  for (const bracket::QuestionForecast& q : forecast.questions) {
    const std::string what = (q.question.interaction ? "interaction of " : "") + family.name(q.question.variant);
    fmt::print(out, "plan: {}: {}\n", what,
               q.resolves ? fmt::format("calls an effect of {} in {:g} of 10 such plans",
                                        bracket::resolution_text(*q.resolves), 10 * stats::kPower)
                          : "can call nothing (" + q.reason + "): more --rounds, or `bracket baseline` before it");
  }
  fmt::print(out, "plan: {}\n", bracket::noise_text(forecast.noise));
  fmt::print(out, "plan: {}\n",
             forecast.seconds ? "about " + human_duration(*forecast.seconds) + ", by this profile's latest boots"
                              : "time unknown until the first boot of this profile is done");
}

void print_family(std::ostream& out, const FamilyView& view) {
  const store::BracketRow& b = view.summary.bracket;
  fmt::print(out, "{} {}  {}  {}  {}  {}\n", view.plan.family["kind"].as_string().value_or("family"),
             store::short_uid(b.uid), b.profile, b.axis, format_utc(b.created_wall), b.state);
  if (!view.order.empty()) print_line(out, "boots", in_a_row(view.order));
  print_line(out, "plan", plan_text(view.plan));
  if (!b.reopen_reason.empty()) print_line(out, "reopened", b.reopen_reason);
  out << '\n';
  print_arms(out, view);
  print_bars(out, view);
  out << '\n';
  for (const Json& answer : view.interactions) {
    const Json& a = answer["assessment"];
    print_line(out, "interaction",
               fmt::format("{} ({}), p {} after Holm", text_of(shown_of(a)), state_of(a, "unknown"), p_of(a)));
    print_line(out, "", a["sentence"].as_string().value_or(""));
  }
  if (!view.peak.is_null()) print_line(out, "peak", view.summary.assessment->reason);
  if (view.interactions.empty() && view.peak.is_null() && view.summary.assessment) {
    print_line(out, "assessment", view.summary.assessment->reason);
  }
  print_why(out, view);
  if (b.state != "done" && b.state != "void" && !b.reason.empty()) print_line(out, "ended", b.reason);
  print_line(out, "next", bracket::what_next(view));
}

Status show_family(const FamilyView& view, const std::string& format, std::ostream& out) {
  if (format != "json") {
    print_family(out, view);
    return {};
  }
  Json doc = tool::output_head("bracket");
  const Json body = bracket::to_json(view);
  for (const auto& [key, value] : body.members()) doc.set(key, value);
  out << doc.dump(2) << '\n';
  return {};
}

}  // namespace bk::bracket_tool
