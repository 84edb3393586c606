#include "bracket/history.h"

#include <algorithm>

#include "base/text.h"
#include "bracket/assess_bracket.h"
#include "bracket/stored_plan.h"

namespace bk::bracket {
namespace {

/// GPU driver, image and the files laid over it as the boot recorded them.
Setting setting_of(const store::BootRow& boot, const std::string& host) {
  Setting setting{host, "", boot.image_digest, "", boot.engine_version, boot.profile_hash};
  const auto machine = parse_json(boot.machine_json.empty() ? "{}" : boot.machine_json);
  if (!machine) return setting;
  const auto overlay = (*machine)["overlay"]["digest"].as_string();
  setting.overlay = overlay ? *overlay : (*machine)["overlay_release"].as_string().value_or("");
  const Json& state = (*machine)["host"];
  for (const Json& gpu : state["gpus"].items()) setting.driver += gpu["driver_version"].as_string().value_or("") + ";";
  return setting;
}

/// Every value that the profile's text gives, and what the base sets instead.
boot::KnobMap base_values(const Plan& plan) {
  boot::KnobMap values;
  for (const std::string_view line : split_lines(plan.profile_text)) {
    const std::size_t sign = line.find('=');
    if (sign != std::string_view::npos) values.emplace(line.substr(0, sign), line.substr(sign + 1));
  }
  for (const auto& [knob, value] : plan.base) values.insert_or_assign(knob, value);
  return values;
}

/// Whether one of them has another value in `base`; knobs that the profile no longer has change its text.
bool differ(const boot::KnobMap& knobs, const boot::KnobMap& base) {
  return std::any_of(knobs.begin(), knobs.end(), [&](const auto& knob) {
    const auto now = base.find(knob.first);
    return now != base.end() && now->second != knob.second;
  });
}

/// Of a boot as it was, beside today's setting and the plan's base.
double weight_of(const EarlierBoot& boot, const Setting& today, const boot::KnobMap& base) {
  const Setting& then = boot.setting;
  double weight = differ(boot.knobs, base) ? kDifferingKnobs : 1;
  if (then.host != today.host) weight *= kDifferingHost;
  if (then.driver != today.driver) weight *= kDifferingDriver;
  if (then.image != today.image || then.overlay != today.overlay) weight *= kDifferingImage;
  if (then.engine_version != today.engine_version) weight *= kDifferingEngine;
  if (then.profile_hash != today.profile_hash) weight *= kDifferingProfile;
  return weight;
}

Result<Setting> setting_of_today(store::Database& database, const Plan& plan, std::optional<store::RowId> bracket,
                                 const std::vector<EarlierBoot>& earlier, std::optional<std::int64_t> until) {
  Setting today;
  if (!earlier.empty()) today = earlier.back().setting;
  today.host = store::this_host().fingerprint;
  if (bracket) {
    BK_ASSIGN(const auto boots, database.boots(*bracket));
    for (const store::BootRow& boot : boots) {
      if (boot.state != "done" || boot.arm != "base" || (until && boot.position >= *until)) continue;
      BK_ASSIGN(const auto host, database.host(boot.host_id.value_or(0)));  // no row has the id 0
      today = setting_of(boot, host ? host->fingerprint : today.host);
    }
  }
  today.profile_hash = plan.profile_hash;
  return today;
}

}  // namespace

EarlierBoot to_earlier(const store::HistoryBoot& boot) {
  return {boot.boot.uid,
          boot.bracket_uid,
          knobs_of(parse_json(boot.boot.knobs_json.empty() ? "{}" : boot.boot.knobs_json).value_or(Json())),
          boot.boot.started_wall,
          setting_of(boot.boot, boot.host_fingerprint),
          values_of_boot(boot.boot, boot.points)};
}

Result<std::vector<EarlierBoot>> earlier_boots(store::Database& database, const Plan& plan,
                                               std::optional<store::RowId> except_bracket,
                                               std::optional<Nanos> ended_before) {
  BK_ASSIGN(const auto rows, database.base_history({plan.profile, plan.metric, plan.cell, except_bracket, ended_before,
                                                    kMostEarlierBoots}));
  std::vector<EarlierBoot> out;
  out.reserve(rows.size());
  for (const store::HistoryBoot& row : rows) out.push_back(to_earlier(row));
  return out;
}

Result<BaseHistory> base_history(store::Database& database, const Plan& plan,
                                 std::optional<store::RowId> except_bracket) {
  BK_ASSIGN(const auto earlier, earlier_boots(database, plan, except_bracket));
  return base_history(database, plan, except_bracket, earlier);
}

Result<BaseHistory> base_history(store::Database& database, const Plan& plan, std::optional<store::RowId> bracket,
                                 const std::vector<EarlierBoot>& earlier, std::optional<std::int64_t> until) {
  BK_ASSIGN(const Setting today, setting_of_today(database, plan, bracket, earlier, until));
  struct Session {
    std::string bracket;
    boot::KnobMap knobs;
    stats::HistoryGroup group;
    std::vector<std::string> uids;
  };
  std::vector<Session> sessions;
  const auto base = base_values(plan);
  for (const EarlierBoot& boot : earlier) {
    const double weight = weight_of(boot, today, base);
    // Boots outside a bracket begin a session when their count starts again; so does a change of the setting or of the
    // knobs: other knobs are another level, not scatter.
    auto session = std::find_if(sessions.rbegin(), sessions.rend(), [&](const Session& s) {
      if (s.bracket != boot.bracket_uid || s.knobs != boot.knobs || s.group.weight != weight) return false;
      return !boot.bracket_uid.empty() || s.group.boots.back().order < boot.values.order;
    });
    if (session == sessions.rend()) {
      sessions.push_back({boot.bracket_uid, boot.knobs, {{}, weight}, {}});
      session = sessions.rbegin();
    }
    session->group.boots.push_back(boot.values);
    session->uids.push_back(boot.uid);
  }
  BaseHistory out;
  for (Session& s : sessions) {
    if (s.group.boots.size() < 2) continue;
    out.boots += static_cast<int>(s.group.boots.size());
    if (s.group.weight < 1) out.discounted += static_cast<int>(s.group.boots.size());
    out.groups.push_back(std::move(s.group));
    out.uids.push_back(std::move(s.uids));
  }
  return out;
}

Json to_json(const BaseHistory& history) {
  Json groups = Json::array();
  for (std::size_t i = 0; i < history.groups.size(); ++i) {
    groups.push(Json::object().set("weight", history.groups[i].weight).set("boots", history.uids[i]));
  }
  return groups;
}

std::string history_text(const BaseHistory& history, const std::string& profile) {
  if (history.boots == 0) return {};
  std::string text =
      fmt::format("Boot noise is also judged by {} earlier base boots of profile {}", history.boots, profile);
  if (history.discounted > 0) {
    text += fmt::format(
        ", {} of them at less weight: host, driver, image, overlay, engine version, profile or base knobs differed",
        history.discounted);
  }
  return text + ".";
}

}  // namespace bk::bracket
