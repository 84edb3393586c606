#include "bracket/stored_boots.h"

#include "base/json.h"
#include "bracket/stored_plan.h"

namespace bk::bracket {

Result<std::vector<BootEvidence>> finished_evidence(store::Database& database, store::RowId bracket) {
  BK_ASSIGN(const auto boots, database.boots(bracket));
  std::vector<BootEvidence> out;
  for (const store::BootRow& boot : boots) {
    if (boot.state != "done") continue;
    BootEvidence evidence{boot.arm == "cand" ? stats::Arm::kCand : stats::Arm::kBase, {}, boot.engine_version};
    BK_ASSIGN(const Json confirmed, parse_json(boot.confirmed_json.empty() ? "{}" : boot.confirmed_json));
    evidence.confirmed = knobs_of(confirmed);
    out.push_back(std::move(evidence));
  }
  return out;
}

Status end_stale_boots(store::Database& database, store::RowId bracket) {
  BK_ASSIGN(const auto boots, database.boots(bracket));
  for (const store::BootRow& boot : boots) {
    if (boot.state != "starting" && boot.state != "running") continue;
    BK_ASSIGN(const auto legs, database.legs(boot.id));
    for (const store::LegRow& leg : legs) {
      if (leg.state == "running")
        BK_TRY(database.end_leg(leg.id, "interrupted", "the program ended before the leg did"));
    }
    BK_TRY(database.end_boot(boot.id, "interrupted", "the program ended before the boot did"));
  }
  return {};
}

Result<std::vector<Position>> positions(store::Database& database, store::RowId bracket, std::size_t planned) {
  std::vector<Position> out(planned);
  BK_ASSIGN(const auto boots, database.boots(bracket));
  for (const store::BootRow& boot : boots) {
    if (boot.position < 0 || static_cast<std::size_t>(boot.position) >= planned) continue;
    Position& p = out[static_cast<std::size_t>(boot.position)];
    p.done = p.done || boot.state == "done";
    ++p.attempts;
  }
  return out;
}

}  // namespace bk::bracket
