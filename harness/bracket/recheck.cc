#include "bracket/recheck.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "bracket/greedy.h"
#include "stats/assess.h"
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

}  // namespace

std::optional<std::int64_t> rule_version(const store::AssessmentRow& assessment) {
  const std::string& detail = assessment.detail_json;
  return parse_json(detail.empty() ? "{}" : detail).value_or(Json())["rule_version"].as_int();
}

std::string other_rule(const store::AssessmentRow& assessment) {
  const auto version = rule_version(assessment);
  if (version == stats::kRuleVersion) return {};
  if (!version) return "made before rules had versions";
  return fmt::format("made by rule version {}, this program has {}", *version, stats::kRuleVersion);
}

Result<Recheck> Rechecker::check(const store::BracketSummary& summary) {
  if (summary.assessment) {
    if (std::string other = other_rule(*summary.assessment); !other.empty()) {
      return Recheck{Finding::kNotJudged, std::move(other)};
    }
  }
  BK_ASSIGN(Remade remade, remaker_.remake(summary));
  if (remade.row && summary.bracket.state == "done" && !summary.bracket.family_id) {
    BK_ASSIGN(std::string gate, greedy_difference(database_, summary.bracket.id));
    if (!gate.empty()) return Recheck{Finding::kDiffers, std::move(gate)};
  }
  if (remade.row) return compared(*summary.assessment, *remade.row);
  if (remade.why_not.empty()) return Recheck{};
  return Recheck{remade.is_damage ? Finding::kDiffers : Finding::kNotJudged, std::move(remade.why_not)};
}

}  // namespace bk::bracket
