#include "ledger/baselines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ledger/boot_table.h"
#include "ledger/section.h"
#include "report/markdown.h"
#include "report/number.h"
#include "stats/summary.h"

namespace bk::ledger {
namespace {

/// Base boots that are done, of one bracket or of none, by id.
std::map<store::RowId, const store::BootRow*> finished_base(const std::vector<store::BootRow>& boots,
                                                            std::optional<store::RowId> bracket) {
  std::map<store::RowId, const store::BootRow*> base;
  for (const store::BootRow& boot : boots) {
    if (boot.arm == "base" && boot.state == "done" && boot.bracket_id == bracket) base[boot.id] = &boot;
  }
  return base;
}

bool is_shown(const std::string& metric) {
  const auto& shown = shown_metrics();
  return std::find(shown.begin(), shown.end(), metric) != shown.end();
}

}  // namespace

void Baselines::add(Key key, const store::BootRow& boot, double median) {
  Values& values = values_[std::move(key)];
  values.medians.push_back(median);
  values.first = values.first == 0 ? boot.started_wall : std::min(values.first, boot.started_wall);
  values.last = std::max(values.last, boot.started_wall);
}

void Baselines::add(const store::BracketRow& bracket, const Asked& asked, const std::vector<store::BootRow>& boots,
                    const std::vector<store::BootFigure>& figures) {
  const auto base = finished_base(boots, bracket.id);
  for (const store::BootFigure& f : figures) {
    const auto boot = base.find(f.boot_id);
    if (boot == base.end() || !f.median || (f.name != bracket.primary_metric && !is_shown(f.name))) continue;
    add({bracket.profile, asked.knobs, asked.decode, f.cell, f.name}, *boot->second, *f.median);
  }
}

void Baselines::add(const std::map<store::RowId, Asked>& asked, const std::vector<store::BootRow>& lone_boots,
                    const std::vector<store::BootFigure>& figures) {
  const auto base = finished_base(lone_boots, {});
  for (const store::BootFigure& f : figures) {
    const auto boot = base.find(f.boot_id);
    if (boot == base.end() || !f.median || !is_shown(f.name)) continue;
    const Asked& own = asked.at(f.boot_id);
    add({boot->second->profile, own.knobs, own.decode, f.cell, f.name}, *boot->second, *f.median);
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
    auto& row = rows.emplace_back(key.begin(), key.end());
    const std::string cells[] = {std::to_string(s.n),   report::number(s.median), report::number(s.min),
                                 report::number(s.max), report::fixed(spread, 2), date_of(values.first),
                                 date_of(values.last)};
    row.insert(row.end(), std::begin(cells), std::end(cells));
  }
  const report::Align l = report::Align::kLeft, r = report::Align::kRight;
  return report::markdown_table(
      {"profile", "knobs", "asked", "cell", "metric", "boots", "median", "min", "max", "sd of boots %", "from", "to"},
      {l, l, l, l, l, r, r, r, r, r, l, l}, rows);
}

std::string lone_gates(const std::map<store::RowId, Asked>& asked, const std::vector<store::BootRow>& boots,
                       const std::vector<std::pair<store::RowId, store::GateRow>>& gates) {
  struct Tally {
    int boots = 0, passed = 0;
    const store::GateRow* newest = nullptr;
  };
  std::map<store::RowId, std::string> profiles;
  for (const store::BootRow& boot : boots) profiles[boot.id] = boot.profile;
  std::map<std::array<std::string, 3>, Tally> tallies;  // profile, knobs, gate
  for (const auto& [boot, gate] : gates) {
    Tally& tally = tallies[{profiles.at(boot), asked.at(boot).knobs, gate.name}];
    ++tally.boots;
    tally.passed += gate.verdict == "pass" ? 1 : 0;
    if (tally.newest == nullptr || gate.finished_wall >= tally.newest->finished_wall) tally.newest = &gate;
  }
  std::vector<std::vector<std::string>> rows;
  rows.reserve(tallies.size());
  for (const auto& [key, tally] : tallies) {
    rows.push_back({key[0], key[1], key[2], std::to_string(tally.boots), std::to_string(tally.passed),
                    fmt::format("{}/{} {}", tally.newest->passed, tally.newest->asked, tally.newest->verdict),
                    date_of(tally.newest->finished_wall)});
  }
  if (rows.empty()) return {};
  const report::Align l = report::Align::kLeft, r = report::Align::kRight;
  return "\nGates of boots outside any bracket:\n\n" +
         report::markdown_table({"profile", "knobs", "gate", "boots", "passed", "newest", "on"}, {l, l, l, r, r, r, l},
                                rows);
}

}  // namespace bk::ledger
