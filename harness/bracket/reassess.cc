#include "bracket/reassess.h"

#include <algorithm>

#include "bracket/recheck.h"
#include "bracket/remake.h"

namespace bk::bracket {
namespace {

/// The new row names the one in whose place it stands, and is the newer of the two whatever the clock says.
void follow(store::AssessmentRow& row, const store::AssessmentRow& before) {
  Json detail = parse_json(row.detail_json).value_or(Json::object());
  detail.set(
      "replaces",
      Json::object().set("uid", before.uid).set("state", before.state).set("rule_version", rule_version(before)));
  row.detail_json = detail.dump();
  row.created_wall = std::max(row.created_wall, before.created_wall + 1);
}

Result<Reassessed> one(store::Database& database, Remaker& remaker, store::BracketSummary summary, bool write) {
  Reassessed out;
  out.before = std::move(summary);
  const store::AssessmentRow& before = *out.before.assessment;
  if (rule_version(before).value_or(0) > stats::kRuleVersion) {
    out.why_not = other_rule(before) + ": use the newer program";
    return out;
  }
  BK_ASSIGN(Remade remade, remaker.remake(out.before));
  out.why_not = remade.why_not.empty() ? "nothing was to be assessed" : std::move(remade.why_not);
  if (!remade.row) return out;
  follow(*remade.row, before);
  if (write) {
    BK_ASSIGN(const bool added, database.replace_assessment(before.id, *remade.row));
    out.why_not = "another program made it again just now";
    if (!added) return out;
  }
  out.why_not.clear();
  out.now = std::move(remade.row);
  return out;
}

}  // namespace

Status reassess(store::Database& database, bool write, const std::function<void(const Reassessed&)>& tell) {
  BK_ASSIGN(const auto brackets, database.list_brackets_briefly());
  Remaker remaker(database);
  for (const store::BracketSummary& brief : brackets) {
    if (!brief.assessment) continue;
    BK_ASSIGN(store::BracketSummary summary, database.bracket_by_id(brief.bracket.id));
    if (!summary.assessment || other_rule(*summary.assessment).empty()) continue;
    BK_ASSIGN(const Reassessed done, one(database, remaker, std::move(summary), write));
    tell(done);
  }
  return {};
}

}  // namespace bk::bracket
