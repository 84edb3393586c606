#include "bracket/recheck.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "bracket/assess_bracket.h"
#include "bracket/family_plan.h"
#include "bracket/greedy.h"
#include "bracket/stored_plan.h"
#include "store/row_io.h"

namespace bk::bracket {
namespace {

using Finding = Recheck::Finding;

/// Two machines sum in another order; nobody edits below this.
bool same_number(double a, double b) {
  constexpr double kRelative = 1e-6, kAbsolute = 1e-9;
  return std::fabs(a - b) <= kAbsolute + kRelative * std::max(std::fabs(a), std::fabs(b));
}

std::string shown(const Json& value) {
  const auto text = value.as_string();
  return text ? "'" + *text + "'" : value.dump();
}

/// The first member that both have and that differs, as "state is 'better', by the samples 'worse'"; empty: none.
/// A member that only one has was added or dropped by another version, and says nothing.
std::string first_difference(const Json& stored, const Json& computed, const std::string& path) {
  if (stored.is_object() && computed.is_object()) {
    for (const auto& [name, value] : stored.members()) {
      const Json* other = computed.find(name);
      if (other == nullptr) continue;
      std::string found = first_difference(value, *other, path.empty() ? name : path + "." + name);
      if (!found.empty()) return found;
    }
    return {};
  }
  if (stored.is_array() && computed.is_array() && stored.items().size() == computed.items().size()) {
    for (std::size_t i = 0; i < stored.items().size(); ++i) {
      std::string found = first_difference(stored.items()[i], computed.items()[i], fmt::format("{}[{}]", path, i));
      if (!found.empty()) return found;
    }
    return {};
  }
  const auto a = stored.as_double(), b = computed.as_double();
  if (a && b ? same_number(*a, *b) : stored.dump() == computed.dump()) return {};
  return fmt::format("{} is {}, by the samples {}", path, shown(stored), shown(computed));
}

struct CellJson {
  Json operator()(std::monostate) const { return {}; }
  Json operator()(const store::Blob&) const { return {}; }
  template <class T>
  Json operator()(const T& value) const {
    return value;
  }
};

/// Every column that an assessment computes, and its detail.
Json computed_columns(const store::AssessmentRow& row) {
  static const std::set<std::string> kOthers = {"uid", "bracket_id", "detail_json", "created_wall_ns", "tool_version"};
  store::RowWriter writer;
  visit_columns(writer, row);
  Json columns = Json::object();
  for (std::size_t i = 0; i < writer.names().size(); ++i) {
    if (!kOthers.contains(writer.names()[i])) columns.set(writer.names()[i], std::visit(CellJson{}, writer.cells()[i]));
  }
  return columns.set("detail", parse_json(row.detail_json.empty() ? "{}" : row.detail_json).value_or(Json()));
}

Recheck compared(const store::AssessmentRow& stored, const store::AssessmentRow& computed) {
  std::string found = first_difference(computed_columns(stored), computed_columns(computed), "");
  return {found.empty() ? Finding::kAgrees : Finding::kDiffers, std::move(found)};
}

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

std::string rule_difference(const Json& detail) {
  const auto version = detail["rule_version"].as_int();
  if (version == stats::kRuleVersion) return {};
  if (!version) return "made before rules had versions";
  return fmt::format("made by rule version {}, this program has {}", *version, stats::kRuleVersion);
}

/// The stored greedy-divergence against what the kept texts say; empty: they agree.
Result<std::string> greedy_difference(store::Database& database, store::RowId bracket) {
  BK_ASSIGN(const auto compared, compare_greedy(database, bracket));
  if (!compared) return std::string();
  BK_ASSIGN(const auto gates, database.leg_gates(compared->leg));
  for (const store::GateRow& gate : gates) {
    if (gate.name != compared->gate.name) continue;
    const std::string by_texts = leg::to_string(compared->gate.verdict);
    if (gate.verdict == by_texts) return std::string();
    return fmt::format("{} is '{}', by the texts '{}'", gate.name, gate.verdict, by_texts);
  }
  return fmt::format("{} is gone", compared->gate.name);
}

std::vector<std::string> earlier_uids(const Json& detail) {
  std::vector<std::string> uids;
  for (const Json& session : detail["history"].items()) {
    for (const Json& uid : session["boots"].items()) uids.push_back(uid.as_string().value_or(""));
  }
  return uids;
}

}  // namespace

Result<const std::vector<EarlierBoot>*> Rechecker::all_earlier(const Plan& plan) {
  const auto key = std::make_tuple(plan.profile, plan.metric, plan.cell);
  const auto known = earlier_.find(key);
  if (known != earlier_.end()) return &known->second;
  BK_ASSIGN(auto boots, earlier_boots(database_, plan.profile, plan.metric, plan.cell, std::nullopt));
  return &earlier_.emplace(key, std::move(boots)).first->second;
}

Result<Recheck> Rechecker::check_done(const store::BracketSummary& summary, const Plan& plan, const Json& detail) {
  const std::vector<std::string> uids = earlier_uids(detail);
  const std::set<std::string> named(uids.begin(), uids.end());
  std::vector<EarlierBoot> earlier;
  if (!named.empty()) {
    BK_ASSIGN(const auto* all, all_earlier(plan));
    std::copy_if(all->begin(), all->end(), std::back_inserter(earlier),
                 [&](const EarlierBoot& boot) { return named.contains(boot.uid); });
  }
  if (earlier.size() < named.size()) {
    return Recheck{Finding::kNotJudged, fmt::format("{} of the {} earlier boots that it names are not here",
                                                    named.size() - earlier.size(), named.size())};
  }
  BK_ASSIGN(std::string gate, greedy_difference(database_, summary.bracket.id));
  if (!gate.empty()) return Recheck{Finding::kDiffers, std::move(gate)};
  BK_ASSIGN(const BaseHistory history, base_history(database_, plan, summary.bracket.id, earlier));
  BK_ASSIGN(const Judgement judgement, judge_bracket(database_, summary.bracket.id, plan, history));
  return compared(*summary.assessment, to_row(judgement, plan, summary.bracket.id));
}

/// Why it is void stands in the bracket and in the boot that showed it.
Result<Recheck> Rechecker::check_void(const store::BracketSummary& summary, const Plan& plan, const Json& detail) {
  BK_ASSIGN(const auto boots, database_.boots_briefly(summary.bracket.id));
  const auto shown = std::find_if(boots.rbegin(), boots.rend(), [](const auto& boot) { return boot.state == "void"; });
  if (shown == boots.rend()) return Recheck{Finding::kDiffers, "state is 'void', by the boots none of them is"};
  BK_ASSIGN(Judgement judgement, judge_bracket(database_, summary.bracket.id, plan, BaseHistory{}));
  judgement.assessment = stats::void_assessment(summary.bracket.reason, shown->reason);
  judgement.history = detail["history"];  // nothing was judged by them
  return compared(*summary.assessment, to_row(judgement, plan, summary.bracket.id));
}

Result<Recheck> Rechecker::check(const store::BracketSummary& summary) {
  const store::BracketRow& bracket = summary.bracket;
  if (!bracket.plan_id || (bracket.state != "done" && bracket.state != "void")) return Recheck{};
  const auto plan = stored_plan(database_, bracket);
  if (!plan) {
    if (plan.error().code == Errc::kIo) return fail(plan.error());
    const bool edited = plan.error().code == Errc::kMismatch;
    return Recheck{edited ? Finding::kDiffers : Finding::kNotJudged, plan.error().what};
  }
  if (std::string found = plan_difference(bracket, *plan); !found.empty()) {
    return Recheck{Finding::kDiffers, std::move(found)};
  }
  if (bracket.family_id || is_family(*plan)) {
    return Recheck{Finding::kNotJudged, "judged by the boots of a whole matrix or sweep, not by its own alone"};
  }
  if (plan->is_baseline() && bracket.state == "done") return Recheck{};
  if (!summary.assessment) return Recheck{Finding::kDiffers, "the assessment is gone"};
  const Json detail =
      parse_json(summary.assessment->detail_json.empty() ? "{}" : summary.assessment->detail_json).value_or(Json());
  if (std::string other = rule_difference(detail); !other.empty()) return Recheck{Finding::kNotJudged, other};
  return bracket.state == "void" ? check_void(summary, *plan, detail) : check_done(summary, *plan, detail);
}

}  // namespace bk::bracket
