#include "judged_text.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "report/number.h"
#include "report/table.h"
#include "scale.h"
#include "stats/assessment_json.h"
#include "stats/summary.h"

namespace bk::bracket_tool {
namespace {

struct BootLine {
  std::size_t samples = 0;
  std::optional<double> median, low, high, acceptance;
};

BootLine boot_line(const stats::BootValues& boot) {
  std::vector<double> values;
  std::vector<std::optional<double>> acceptance;
  for (const stats::SampleValue& s : boot.samples) {
    values.push_back(s.value);
    if (s.acceptance) acceptance.emplace_back(s.acceptance);
  }
  const stats::Summary v = stats::summarize(values);
  return {v.n, v.median, v.min, v.max, stats::summarize(acceptance).mean};
}

std::string reason_of(const Json& effect) { return effect["reason"].as_string().value_or("unstated"); }

/// "+3.47 % [+2.10, +4.80]   p 0.0012", or why there is none.
std::string effect_text(const Json& effect, const std::string& unit) {
  const auto value = effect["effect_" + unit].as_double(), low = effect["low_" + unit].as_double(),
             high = effect["high_" + unit].as_double(), p = effect["p"].as_double();
  if (!value) return "- (" + reason_of(effect) + ")";
  std::string text =
      unit == "pct" ? report::percent_interval(value, low, high) : report::points_interval(value, low, high);
  return p ? text + fmt::format("   p {:.2g}", *p) : text + " (no interval: " + reason_of(effect) + ")";
}

std::string historical_text(const Json& h) {
  const auto delta = h["delta_pct"].as_double();
  if (!delta) return "- (" + reason_of(h) + ")";
  const std::string call =
      h["reason"].is_null() ? h["verdict"].as_string().value_or("") : "no call (" + reason_of(h) + ")";
  const bool acc50 = h["value_basis"].as_string() == "acc50";
  return fmt::format("{}: delta {}, base gap {}, drift {} at {}; it calls about {:.0f} % of no-effect brackets", call,
                     report::percent(delta), report::percent(h["base_gap_pct"].as_double()),
                     report::percent(h["drift_pct"].as_double()), acc50 ? "acc=50" : "the means",
                     100 * h["false_alarm_rate"].as_double().value_or(stats::kHistoricalFalseAlarmRate));
}

}  // namespace

void print_line(std::ostream& out, const std::string& label, const std::string& text) {
  fmt::print(out, "{:<21} {}\n", label, text);
}

void print_three_effects(std::ostream& out, const Json& assessment) {
  print_line(out, "raw effect", effect_text(assessment["raw"], "pct"));
  print_line(out, "at equal acceptance", effect_text(assessment["equal_acceptance"], "pct"));
  print_line(out, "on acceptance", effect_text(assessment["acceptance"], "points"));
}

void print_scale(std::ostream& out, const Json& assessment) {
  const std::pair<const char*, const char*> effects[] = {{"raw", "raw"}, {"equal_acceptance", "equal acceptance"}};
  double reach = 0;
  for (const auto& [key, label] : effects) {
    for (const char* end : {"low_pct", "high_pct"}) {
      reach = std::max(reach, std::fabs(assessment[key][end].as_double().value_or(0)));
    }
  }
  if (!(reach > 0)) return;
  print_line(out, "scale", scale_line(reach));
  for (const auto& [key, label] : effects) {
    const Json& e = assessment[key];
    const auto low = e["low_pct"].as_double(), high = e["high_pct"].as_double(), value = e["effect_pct"].as_double();
    if (low && high && value) print_line(out, std::string("  ") + label, bar(*low, *value, *high, reach));
  }
}

void print_state(std::ostream& out, const Json& assessment) {
  std::string state = assessment["state"].as_string().value_or("unknown");
  std::transform(state.begin(), state.end(), state.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  print_line(out, "assessment", fmt::format("{} ({})", state, assessment["reason"].as_string().value_or("")));
  print_line(out, "", assessment["sentence"].as_string().value_or(""));
}

void print_effects(std::ostream& out, const Json& assessment, const Json& historical) {
  print_three_effects(out, assessment);
  print_scale(out, assessment);
  print_line(out, "drift per boot", effect_text(assessment["drift_per_boot"], "pct"));
  print_line(out, "ledger's old rule", historical_text(historical));
  print_state(out, assessment);
}

void print_judged(std::ostream& out, const Judged& j) {
  fmt::print(out, "{}{}  ({} is better)\n", j.metric, j.cell.empty() ? "" : "  " + j.cell, to_string(j.better));
  std::vector<std::vector<std::string>> rows;
  for (const stats::BootValues& boot : j.boots) {
    const BootLine line = boot_line(boot);
    std::optional<double> points;
    if (line.acceptance) points = 100 * *line.acceptance;
    rows.push_back({fmt::format("{:g}", boot.order), to_string(boot.arm), fmt::format("{}", line.samples),
                    report::number(line.median), report::number(line.low), report::number(line.high),
                    report::fixed(points, 1)});
  }
  using report::Align;
  const std::string unit = j.unit.empty() ? "" : " [" + j.unit + "]";
  out << report::table(
      {"boot", "arm", "samples", "median" + unit, "min", "max", "acceptance [%]"},
      {Align::kRight, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight}, rows);
  print_effects(out, stats::to_json(j.assessment), stats::to_json(j.historical));
}

Json to_json(const Judged& j) {
  Json boots = Json::array();
  for (const stats::BootValues& boot : j.boots) {
    const BootLine line = boot_line(boot);
    boots.push(Json::object()
                   .set("boot", boot.order)
                   .set("arm", to_string(boot.arm))
                   .set("samples", line.samples)
                   .set("median", line.median)
                   .set("acceptance_raw", line.acceptance));
  }
  Json out = Json::object();
  out.set("metric", j.metric)
      .set("cell", j.cell.empty() ? Json() : Json(j.cell))
      .set("unit", j.unit.empty() ? Json() : Json(j.unit));
  out.set("better", to_string(j.better)).set("boots", std::move(boots));
  out.set("delta_pct", j.historical.delta_pct).set("drift_pct", j.historical.drift_pct);
  out.set("historical", stats::to_json(j.historical)).set("assessment", stats::to_json(j.assessment));
  return out;
}

}  // namespace bk::bracket_tool
