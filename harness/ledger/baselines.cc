#include "ledger/baselines.h"

#include <fmt/format.h>

#include <algorithm>

#include "ledger/boot_table.h"
#include "ledger/section.h"
#include "report/markdown.h"
#include "report/number.h"
#include "stats/summary.h"

namespace bk::ledger {

void Baselines::add(const store::BracketRow& bracket, const std::vector<store::BootRow>& boots,
                    const std::vector<store::BootFigure>& figures) {
  const auto& shown = shown_metrics();
  std::map<store::RowId, const store::BootRow*> base;
  for (const store::BootRow& boot : boots) {
    if (boot.arm == "base" && boot.state == "done") base[boot.id] = &boot;
  }
  for (const store::BootFigure& f : figures) {
    const auto boot = base.find(f.boot_id);
    if (boot == base.end() || !f.median) continue;
    if (f.name != bracket.primary_metric && std::find(shown.begin(), shown.end(), f.name) == shown.end()) continue;
    const std::string& profile = bracket.profile.empty() ? boot->second->profile : bracket.profile;
    Values& values = values_[{profile, f.cell, f.name}];
    values.medians.push_back(*f.median);
    const Nanos wall = boot->second->started_wall;
    values.first = values.first == 0 ? wall : std::min(values.first, wall);
    values.last = std::max(values.last, wall);
  }
}

void Baselines::add(const Baselines& later) {
  for (const auto& [key, theirs] : later.values_) {
    Values& values = values_[key];
    values.medians.insert(values.medians.end(), theirs.medians.begin(), theirs.medians.end());
    values.first = values.first == 0 ? theirs.first : std::min(values.first, theirs.first);
    values.last = std::max(values.last, theirs.last);
  }
}

std::string Baselines::markdown() const {
  if (values_.empty()) return "No base boot has been measured yet.\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& [key, values] : values_) {
    const stats::Summary s = stats::summarize(values.medians);
    std::optional<double> spread;
    if (s.sd && s.mean && *s.mean != 0) spread = 100 * *s.sd / *s.mean;
    rows.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), std::to_string(s.n), report::number(s.median),
                    report::number(s.min), report::number(s.max), report::fixed(spread, 2), date_of(values.first),
                    date_of(values.last)});
  }
  const report::Align l = report::Align::kLeft, r = report::Align::kRight;
  return report::markdown_table(
      {"profile", "cell", "metric", "boots", "median", "min", "max", "sd of boots %", "from", "to"},
      {l, l, l, r, r, r, r, r, l, l}, rows);
}

std::string lone_gates(const std::vector<store::BootRow>& boots,
                       const std::vector<std::pair<store::RowId, store::GateRow>>& gates) {
  struct Tally {
    int boots = 0, passed = 0;
    const store::GateRow* newest = nullptr;
  };
  std::map<store::RowId, std::string> profiles;
  for (const store::BootRow& boot : boots) profiles[boot.id] = boot.profile;
  std::map<std::pair<std::string, std::string>, Tally> tallies;  // profile, gate
  for (const auto& [boot, gate] : gates) {
    Tally& tally = tallies[{profiles[boot], gate.name}];
    ++tally.boots;
    tally.passed += gate.verdict == "pass" ? 1 : 0;
    if (tally.newest == nullptr || gate.finished_wall >= tally.newest->finished_wall) tally.newest = &gate;
  }
  std::vector<std::vector<std::string>> rows;
  rows.reserve(tallies.size());
  for (const auto& [key, tally] : tallies) {
    rows.push_back({key.first, key.second, std::to_string(tally.boots), std::to_string(tally.passed),
                    fmt::format("{}/{} {}", tally.newest->passed, tally.newest->asked, tally.newest->verdict),
                    date_of(tally.newest->finished_wall)});
  }
  if (rows.empty()) return {};
  const report::Align l = report::Align::kLeft, r = report::Align::kRight;
  return "\nGates of boots outside any bracket:\n\n" +
         report::markdown_table({"profile", "gate", "boots", "passed", "newest", "on"}, {l, l, r, r, r, l}, rows);
}

}  // namespace bk::ledger
