#include "bracket/history.h"

#include <algorithm>

#include "bracket/assess_bracket.h"

namespace bk::bracket {
namespace {

/// What decides how much a session still says.
struct Setting {
  std::string host, driver, image, engine_version, profile_hash;
};

/// GPU driver and image as the boot recorded them; empty: not recorded.
Setting setting_of(const store::BootRow& boot, const std::string& host) {
  Setting setting{host, "", boot.image_digest, boot.engine_version, boot.profile_hash};
  const auto machine = parse_json(boot.machine_json.empty() ? "{}" : boot.machine_json);
  if (!machine) return setting;
  const Json& state = (*machine)["host"];
  for (const Json& gpu : state["gpus"].items()) setting.driver += gpu["driver_version"].as_string().value_or("") + ";";
  return setting;
}

double weight_of(const Setting& then, const Setting& today) {
  double weight = 1;
  if (then.host != today.host) weight *= kDifferingHost;
  if (then.driver != today.driver) weight *= kDifferingDriver;
  if (then.image != today.image) weight *= kDifferingImage;
  if (then.engine_version != today.engine_version) weight *= kDifferingEngine;
  if (then.profile_hash != today.profile_hash) weight *= kDifferingProfile;
  return weight;
}

/// Today's setting: this host, the planned profile, and driver, image and engine of the bracket's own latest base boot,
/// else of the latest in history.
Result<Setting> setting_of_today(store::Database& database, const Plan& plan, std::optional<store::RowId> bracket,
                                 const std::vector<store::HistoryBoot>& history) {
  Setting today;
  if (!history.empty()) today = setting_of(history.back().boot, "");
  if (bracket) {
    BK_ASSIGN(const auto boots, database.boots(*bracket));
    for (const store::BootRow& boot : boots) {
      if (boot.state == "done" && boot.arm == "base") today = setting_of(boot, "");
    }
  }
  today.host = store::this_host().fingerprint;
  today.profile_hash = plan.profile_hash;
  return today;
}

}  // namespace

Result<BaseHistory> base_history(store::Database& database, const Plan& plan,
                                 std::optional<store::RowId> except_bracket) {
  BK_ASSIGN(const auto rows, database.base_history(plan.profile, plan.metric, plan.cell, except_bracket));
  BK_ASSIGN(const Setting today, setting_of_today(database, plan, except_bracket, rows));
  struct Session {
    std::string bracket;
    stats::HistoryGroup group;
  };
  std::vector<Session> sessions;
  for (const store::HistoryBoot& row : rows) {
    const Setting then = setting_of(row.boot, row.host_fingerprint);
    BK_ASSIGN(stats::BootValues values, values_of_boot(database, row.boot, plan.metric, plan.cell));
    const double weight = weight_of(then, today);
    // Boots outside a bracket begin a session when their count starts again; so does a change of the setting.
    auto session = std::find_if(sessions.rbegin(), sessions.rend(), [&](const Session& s) {
      if (s.bracket != row.bracket_uid || s.group.weight != weight) return false;
      return !row.bracket_uid.empty() || s.group.boots.back().order < values.order;
    });
    if (session == sessions.rend()) {
      sessions.push_back({row.bracket_uid, {{}, weight}});
      session = sessions.rbegin();
    }
    session->group.boots.push_back(std::move(values));
  }
  BaseHistory out;
  for (Session& s : sessions) {
    if (s.group.boots.size() < 2) continue;
    out.boots += static_cast<int>(s.group.boots.size());
    if (s.group.weight < 1) out.discounted += static_cast<int>(s.group.boots.size());
    out.groups.push_back(std::move(s.group));
  }
  return out;
}

std::string history_text(const BaseHistory& history, const std::string& profile) {
  if (history.boots == 0) return {};
  std::string text =
      fmt::format("Boot noise is also judged by {} earlier base boots of profile {}", history.boots, profile);
  if (history.discounted > 0) {
    text += fmt::format(", {} of them at less weight: host, driver, image, engine version or profile differed",
                        history.discounted);
  }
  return text + ".";
}

}  // namespace bk::bracket
