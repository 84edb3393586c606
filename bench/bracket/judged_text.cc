#include "judged_text.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>

#include "report/number.h"
#include "report/table.h"
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

std::string percent_effect(const stats::Effect& e) {
  if (!e.estimate) return "- (" + e.reason + ")";
  if (!e.half_width) return report::percent(stats::to_pct(*e.estimate)) + " (no interval: " + e.reason + ")";
  return fmt::format("{}   p {:.3g}",
                     report::percent_interval(stats::to_pct(*e.estimate), stats::to_pct(*e.estimate - *e.half_width),
                                              stats::to_pct(*e.estimate + *e.half_width)),
                     *e.p);
}

std::string point_effect(const stats::Effect& e) {
  if (!e.estimate) return "- (" + e.reason + ")";
  const auto shown = [&](double sign) {
    return e.half_width ? std::optional(100 * (*e.estimate + sign * *e.half_width)) : std::nullopt;
  };
  std::string text = report::points_interval(100 * *e.estimate, shown(-1), shown(1));
  return e.p ? text + fmt::format("   p {:.3g}", *e.p) : text + " (no interval: " + e.reason + ")";
}

std::string historical_text(const stats::Historical& h) {
  const std::string rate =
      fmt::format("the rule calls about {:.0f} % of no-effect brackets", 100 * stats::kHistoricalFalseAlarmRate);
  if (!h.delta_pct) return "- (" + h.reason + ")";
  const std::string call = h.reason.empty() ? to_string(h.call) : "no call (" + h.reason + ")";
  return fmt::format("{}: delta {}, base gap {}, drift {} at {}; {}", call, report::percent(h.delta_pct),
                     report::percent(h.base_gap_pct), report::percent(h.drift_pct), h.at_acc50 ? "acc=50" : "the means",
                     rate);
}

}  // namespace

std::string headline(const stats::Assessment& a) {
  std::string state = to_string(a.state);
  std::transform(state.begin(), state.end(), state.begin(),
                 [](char c) { return static_cast<char>(c - ('a' <= c && c <= 'z' ? 32 : 0)); });
  return state + " (" + a.reason + ")";
}

void print_effects(std::ostream& out, const stats::Assessment& a, const stats::Historical& h) {
  const auto line = [&](const char* label, const std::string& text) { fmt::print(out, "{:<22}{}\n", label, text); };
  line("raw effect", percent_effect(a.estimates.raw));
  line("at equal acceptance", percent_effect(a.estimates.equal_acceptance));
  line("on acceptance", point_effect(a.estimates.acceptance));
  line("drift per boot", percent_effect(a.estimates.drift));
  line("ledger's old rule", historical_text(h));
  line("assessment", headline(a));
  fmt::print(out, "{}\n", a.sentence);
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
  print_effects(out, j.assessment, j.historical);
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
  out.set("historical", to_json(j.historical)).set("assessment", to_json(j.assessment));
  return out;
}

}  // namespace bk::bracket_tool
