#include "bracket/family_plan.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "bracket/stored_plan.h"
#include "stats/random.h"

namespace bk::bracket {
namespace {

Json spec_json(const FamilySpec& spec) {
  Json axes = Json::array();
  std::vector<std::string> shown;
  for (const KnobAxis& axis : spec.axes) {
    Json values = Json::array();
    for (const std::string& value : axis.values) values.push(value);
    axes.push(Json::object().set("knob", axis.knob).set("values", std::move(values)));
    shown.push_back(axis.knob + " " + join(axis.values, ","));
  }
  Json j = Json::object();
  j.set("kind", to_string(spec.kind)).set("axes", std::move(axes)).set("set", knobs_json(spec.set));
  j.set("rounds", spec.rounds);
  return j.set("axis", fmt::format("{} {}", to_string(spec.kind), join(shown, " x ")));
}

FamilySpec spec_from(const Json& json) {
  FamilySpec spec;
  if (json["kind"].as_string() == "matrix") spec.kind = FamilySpec::Kind::kMatrix;
  for (const Json& axis : json["axes"].items()) {
    KnobAxis& out = spec.axes.emplace_back();
    out.knob = axis["knob"].as_string().value_or("");
    for (const Json& value : axis["values"].items()) out.values.push_back(value.as_string().value_or(""));
  }
  spec.set = knobs_of(json["set"]);
  spec.rounds = static_cast<int>(json["rounds"].as_int().value_or(spec.rounds));
  return spec;
}

Status check_spec(const FamilySpec& spec) {
  if (spec.kind == FamilySpec::Kind::kMatrix && spec.axes.size() < 2) {
    return fail(Errc::kUsage, "a matrix needs two knobs or more; one knob alone is a `bracket sweep`", "--knob");
  }
  std::size_t arms = 1;
  for (std::size_t i = 0; i < spec.axes.size(); ++i) {
    const KnobAxis& axis = spec.axes[i];
    for (std::size_t k = 0; k < i; ++k) {
      if (spec.axes[k].knob == axis.knob) return fail(Errc::kUsage, axis.knob + " is given twice", "--knob");
    }
    if (spec.set.contains(axis.knob)) {
      return fail(Errc::kUsage, axis.knob + " is varied and cannot be set for every arm, too", "--set");
    }
    arms *= axis.values.size();
    if (arms > kMostArms) {
      return fail(Errc::kUsage,
                  fmt::format("{} arms and more: at most {} are judged together, since each pays for all of them; take "
                              "fewer values, or several runs",
                              arms, kMostArms),
                  "--knob");
    }
  }
  return {};
}

/// One arm's place on each axis.
using Cell = std::vector<std::size_t>;

int moved(const Cell& cell) {
  return static_cast<int>(std::count_if(cell.begin(), cell.end(), [](std::size_t at) { return at > 0; }));
}

/// Every cell but the base's: those that move one knob first, in the order of knobs and values, then by moved knobs.
std::vector<Cell> cells_of(const std::vector<KnobAxis>& axes) {
  std::vector<Cell> cells{Cell(axes.size(), 0)};
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const std::vector<Cell> before = cells;
    for (std::size_t v = 1; v < axes[a].values.size(); ++v) {
      for (Cell cell : before) {
        cell[a] = v;
        cells.push_back(std::move(cell));
      }
    }
  }
  cells.erase(cells.begin());
  std::stable_sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) { return moved(a) < moved(b); });
  return cells;
}

boot::KnobMap knobs_of(const FamilySpec& spec, const Cell& cell) {
  boot::KnobMap knobs = spec.set;
  for (std::size_t a = 0; a < cell.size(); ++a) knobs[spec.axes[a].knob] = spec.axes[a].values[cell[a]];
  return knobs;
}

/// The variants that move one of the cell's knobs as it does.
std::vector<int> singles_of(const std::vector<Cell>& cells, const Cell& cell) {
  std::vector<int> singles;
  for (std::size_t i = 0; i < cells.size() && moved(cells[i]) == 1; ++i) {
    bool part = true;
    for (std::size_t a = 0; a < cell.size(); ++a) part = part && (cells[i][a] == 0 || cells[i][a] == cell[a]);
    if (part) singles.push_back(static_cast<int>(i) + 1);
  }
  return singles;
}

FamilyArm arm_of(const std::vector<Cell>& cells, const Cell& cell, Plan plan) {
  FamilyArm arm;
  arm.plan = std::move(plan);
  if (moved(cell) > 1) {
    arm.stage = 2;
    arm.singles = singles_of(cells, cell);
  }
  return arm;
}

/// The boots that the arm's comparison rests on, as base and candidate.
std::vector<stats::Arm> own_order(const std::vector<FamilyStep>& order, int variant, int stage) {
  std::vector<stats::Arm> out;
  for (const FamilyStep& step : order) {
    if (step.stage > stage || (step.variant != 0 && step.variant != variant)) continue;
    out.push_back(step.variant == 0 ? stats::Arm::kBase : stats::Arm::kCand);
  }
  return out;
}

}  // namespace

const char* to_string(FamilySpec::Kind kind) { return kind == FamilySpec::Kind::kMatrix ? "matrix" : "sweep"; }

Result<KnobAxis> parse_axis(std::string_view text, const std::string& base, const std::string& flag) {
  const std::size_t equals = text.find('=');
  KnobAxis axis{std::string(trim(text.substr(0, equals))), {}};
  if (equals == std::string_view::npos || axis.knob.empty()) {
    return fail(Errc::kUsage, fmt::format("'{}' is no KNOB=VALUE,VALUE,…", text), flag);
  }
  if (!base.empty()) axis.values.push_back(base);
  bool base_seen = base.empty();
  for (const std::string_view piece : split(text.substr(equals + 1), ',')) {
    const std::string value(trim(piece));
    if (value == base && !base_seen) {
      base_seen = true;
      continue;
    }
    if (std::find(axis.values.begin(), axis.values.end(), value) != axis.values.end()) {
      return fail(Errc::kUsage, fmt::format("{}={} is given twice", axis.knob, value), flag);
    }
    axis.values.push_back(value);
  }
  if (axis.values.size() < 2) {
    return fail(Errc::kUsage, fmt::format("{} has one value: there is nothing to compare; give two or more", axis.knob),
                flag);
  }
  return axis;
}

std::string FamilyArm::name() const {
  std::vector<std::string> parts;
  for (const KnobChange& c : plan.changes()) parts.push_back(c.knob + "=" + c.cand_value);
  return join(parts, ",");
}

std::string Family::name(int variant) const {
  if (variant > 0) return arm(variant).name();
  return spec.kind == FamilySpec::Kind::kSweep ? spec.axes[0].knob + "=" + spec.axes[0].values[0] : "base";
}

std::vector<int> Family::variants() const {
  std::vector<int> out;
  out.reserve(arms.size());
  for (std::size_t i = 1; i <= arms.size(); ++i) out.push_back(static_cast<int>(i));
  return out;
}

std::vector<FamilyQuestion> questions(const Family& family) {
  std::vector<FamilyQuestion> out;
  for (const int v : family.variants()) out.push_back({v, false, stats::difference(v, 0), family.arm(v).stage});
  for (const int v : family.variants()) {
    const FamilyArm& arm = family.arm(v);
    if (!arm.singles.empty()) out.push_back({v, true, stats::interaction(v, arm.singles), arm.stage});
  }
  return out;
}

std::vector<FamilyStep> family_order(const std::vector<FamilyArm>& arms, int rounds, std::uint64_t seed) {
  stats::Random random(seed);
  std::vector<FamilyStep> order{{0, 1}};
  for (int stage = 1;; ++stage) {
    std::vector<int> round;
    for (std::size_t i = 0; i < arms.size(); ++i) {
      if (arms[i].stage == stage) round.push_back(static_cast<int>(i) + 1);
    }
    if (round.empty()) return order;
    for (int r = 0; r < rounds; ++r) {
      if (r % 2 == 1) {
        std::reverse(round.begin(), round.end());
      } else {
        for (std::size_t i = round.size() - 1; i > 0; --i) {
          std::swap(round[i], round[static_cast<std::size_t>(random.below(static_cast<int>(i) + 1))]);
        }
      }
      for (const int variant : round) order.push_back({variant, stage});
      order.push_back({0, stage});
    }
  }
}

Result<Family> make_family(const boot::Profile& profile, const FamilySpec& spec, const PlanOptions& options) {
  BK_TRY(check_spec(spec));
  Family family;
  family.spec = spec;
  const std::vector<Cell> cells = cells_of(spec.axes);
  const boot::KnobMap base = knobs_of(spec, Cell(spec.axes.size(), 0));
  for (const Cell& cell : cells) {
    BK_ASSIGN(Plan plan, make_combined_plan(profile, base, knobs_of(spec, cell), options));
    family.arms.push_back(arm_of(cells, cell, std::move(plan)));
  }
  family.order = family_order(family.arms, spec.rounds, options.seed);
  for (std::size_t i = 0; i < family.arms.size(); ++i) {
    FamilyArm& arm = family.arms[i];
    arm.plan.order = own_order(family.order, static_cast<int>(i) + 1, arm.stage);
    arm.plan.options.boots = static_cast<int>(arm.plan.order.size());
    const auto until = std::count_if(family.order.begin(), family.order.end(),
                                     [&](const FamilyStep& step) { return step.stage <= arm.stage; });
    arm.plan.family = Json::object().set("kind", to_string(spec.kind)).set("variant", i + 1);
    arm.plan.family.set(kJudgedAfter, static_cast<std::int64_t>(until));
  }
  const auto bases = static_cast<std::size_t>(
      std::count_if(family.order.begin(), family.order.end(), [](const FamilyStep& s) { return s.variant == 0; }));
  BK_ASSIGN(family.whole, make_same_plan(profile, base, std::vector<stats::Arm>(bases, stats::Arm::kBase), options));
  family.whole.family = spec_json(spec);
  return family;
}

Result<Family> family_of(const Plan& whole, const std::vector<Plan>& comparisons) {
  if (!is_family(whole)) return fail(Errc::kUsage, "the plan is of no matrix and no sweep", whole.axis());
  Family family;
  family.spec = spec_from(whole.family);
  family.whole = whole;
  const std::vector<Cell> cells = cells_of(family.spec.axes);
  if (comparisons.size() != cells.size()) {
    return fail(Errc::kUnavailable,
                fmt::format("{} of its {} comparisons are not here", cells.size() - comparisons.size(), cells.size()));
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (comparisons[i].family["variant"].as_int() != static_cast<std::int64_t>(i) + 1 ||
        comparisons[i].changes().size() != static_cast<std::size_t>(moved(cells[i]))) {
      return fail(Errc::kMismatch, "a stored comparison is not what the plan says", comparisons[i].axis());
    }
    family.arms.push_back(arm_of(cells, cells[i], comparisons[i]));
  }
  family.order = family_order(family.arms, family.spec.rounds, whole.options.seed);
  return family;
}

bool is_family(const Plan& plan) { return plan.family["axes"].is_array(); }

}  // namespace bk::bracket
