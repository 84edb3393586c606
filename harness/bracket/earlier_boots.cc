#include "bracket/earlier_boots.h"

#include <algorithm>

namespace bk::bracket {
namespace {

constexpr std::size_t kMostKept = 10'000;  // some ten megabytes

std::vector<std::string> uids_in(const Json& history) {
  std::vector<std::string> uids;
  for (const Json& session : history.items()) {
    for (const Json& uid : session["boots"].items()) uids.push_back(uid.as_string().value_or(""));
  }
  return uids;
}

}  // namespace

Result<const EarlierBoot*> EarlierBoots::find(const std::string& uid, const Plan& plan) {
  const std::string key = uid + '\n' + plan.metric + '\n' + plan.cell;
  const auto known = by_key_.find(key);
  if (known != by_key_.end()) {
    kept_.splice(kept_.begin(), kept_, known->second);
    return &kept_.front().boot;
  }
  BK_ASSIGN(const auto boot, database_.history_boot(uid, plan.metric, plan.cell));
  if (!boot) return static_cast<const EarlierBoot*>(nullptr);
  kept_.push_front({key, to_earlier(*boot)});
  by_key_[key] = kept_.begin();
  if (kept_.size() > kMostKept) {
    by_key_.erase(kept_.back().key);
    kept_.pop_back();
  }
  return &kept_.front().boot;
}

Result<BaseHistory> EarlierBoots::history_of(const store::AssessmentRow& assessment, const Plan& plan,
                                             store::RowId bracket, std::optional<std::int64_t> until) {
  const Json detail = parse_json(assessment.detail_json.empty() ? "{}" : assessment.detail_json).value_or(Json());
  std::vector<EarlierBoot> earlier;
  if (!detail["history"].is_array()) {
    BK_ASSIGN(earlier, earlier_boots(database_, plan, bracket, assessment.created_wall));
    return base_history(database_, plan, bracket, earlier, until);
  }
  const std::vector<std::string> uids = uids_in(detail["history"]);
  for (const std::string& uid : uids) {
    BK_ASSIGN(const EarlierBoot* const boot, find(uid, plan));
    if (boot != nullptr) earlier.push_back(*boot);
  }
  if (earlier.size() < uids.size()) {
    return fail(Errc::kUnavailable, fmt::format("{} of the {} earlier boots that it names are not here",
                                                uids.size() - earlier.size(), uids.size()));
  }
  std::sort(earlier.begin(), earlier.end(), [](const EarlierBoot& a, const EarlierBoot& b) {
    return std::tie(a.started_wall, a.uid) < std::tie(b.started_wall, b.uid);
  });
  return base_history(database_, plan, bracket, earlier, until);
}

}  // namespace bk::bracket
