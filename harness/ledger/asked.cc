#include "ledger/asked.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace bk::ledger {
namespace {

Json json_of(const std::string& text) { return text.empty() ? Json() : parse_json(text).value_or(Json()); }

}  // namespace

std::string knobs_text(const Json& knobs) {
  if (!knobs.is_object()) return report::kMissing;
  std::vector<std::string> set;
  for (const auto& [name, value] : knobs.members()) set.push_back(name + "=" + value.as_string().value_or(""));
  std::sort(set.begin(), set.end());
  return set.empty() ? "defaults" : join(set, ", ");
}

std::string decode_text(const Json& decode) {
  const auto tokens = decode["max_tokens"].as_int();
  const auto temperature = decode["temperature"].as_double();
  const auto exactly = decode["ignore_eos"].as_bool();
  if (!tokens || !temperature || !exactly) return report::kMissing;
  return fmt::format("{}{} tokens, t {:g}", *exactly ? "" : "up to ", *tokens, *temperature);
}

Result<Asked> asked_of(store::Database& database, const store::BracketRow& bracket) {
  if (!bracket.plan_id) return Asked();
  BK_ASSIGN(const store::PlanRow row, database.plan(*bracket.plan_id));
  const Json plan = json_of(row.plan_json);
  return Asked{knobs_text(plan["base"]), decode_text(plan["decode"])};
}

Result<std::map<store::RowId, Asked>> asked_of(store::Database& database,
                                               const std::vector<store::BootRow>& lone_boots) {
  std::map<store::RowId, Asked> out;
  for (const store::BootRow& boot : lone_boots) {
    Asked& asked = out[boot.id];
    asked.knobs = knobs_text(json_of(boot.knobs_json));
    BK_ASSIGN(const auto legs, database.legs(boot.id));
    const auto leg = std::find_if(legs.begin(), legs.end(), [](const auto& l) { return l.name == "decode"; });
    if (leg != legs.end()) asked.decode = decode_text(json_of(leg->plan_json));
  }
  return out;
}

}  // namespace bk::ledger
