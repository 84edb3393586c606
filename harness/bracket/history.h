#pragma once
#include <string>
#include <vector>

#include "bracket/plan.h"
#include "stats/history.h"
#include "store/store.h"

namespace bk::bracket {

/// What decides how much a boot still says.
struct Setting {
  std::string host, driver, image, overlay, engine_version, profile_hash;  ///< empty: not recorded
};

/// A base boot of a profile that is done, with what it measured.
struct EarlierBoot {
  std::string uid, bracket_uid;  ///< bracket_uid: empty outside a bracket
  boot::KnobMap knobs;           ///< all of its configuration
  Nanos started_wall = 0;
  Setting setting;
  stats::BootValues values;
};
[[nodiscard]] EarlierBoot to_earlier(const store::HistoryBoot& boot);

/// History goes back so many base boots. Of pairs they give 60 degrees of freedom, with which an interval is 2 % wider
/// than with any number of them; and boot noise of long ago says less of today's.
inline constexpr std::size_t kMostEarlierBoots = 120;

/// The newest kMostEarlierBoots of a profile, oldest first, with one metric of one cell.
/// @param ended_before  wall clock; nothing: whenever they ended
[[nodiscard]] Result<std::vector<EarlierBoot>> earlier_boots(store::Database& database, const Plan& plan,
                                                             std::optional<store::RowId> except_bracket,
                                                             std::optional<Nanos> ended_before = {});

/// Earlier base boots of a profile, by the session that they ran in.
struct BaseHistory {
  std::vector<stats::HistoryGroup> groups;
  std::vector<std::vector<std::string>> uids;  ///< shape: one a boot of each group
  int boots = 0;                               ///< in groups that count
  /// Of these, with another host, driver, image, overlay, engine version, profile text or base knob than today's.
  int discounted = 0;
};

/// What a group's degrees of freedom are multiplied by for each of these that differs: boot noise mostly stays what it
/// is, but nobody knows by how much. Knobs weigh as much as a host: boots of one engine on one machine differed by 0.6
/// % with drafts and by 6 % without.
inline constexpr double kDifferingHost = 0.25, kDifferingKnobs = 0.25, kDifferingDriver = 0.5, kDifferingImage = 0.5,
                        kDifferingEngine = 0.5, kDifferingProfile = 0.5;

/// Reads them. Sessions with a single base boot say nothing about scatter and are left out. Today's setting is that of
/// the bracket's own latest base boot, before there is one this host's with the engine of the latest in history.
[[nodiscard]] Result<BaseHistory> base_history(store::Database& database, const Plan& plan,
                                               std::optional<store::RowId> except_bracket);
/// The same of boots that were read before, oldest first.
/// @param until  boots of the bracket from this position on say nothing of today: a stage of a matrix was judged before
[[nodiscard]] Result<BaseHistory> base_history(store::Database& database, const Plan& plan,
                                               std::optional<store::RowId> bracket,
                                               const std::vector<EarlierBoot>& earlier,
                                               std::optional<std::int64_t> until = {});

/// [{"weight": 0.5, "boots": ["uid", …]}, …], a member a session.
[[nodiscard]] Json to_json(const BaseHistory& history);

/// "Boot noise is also judged by 4 earlier base boots of profile sim."; empty when there are none.
[[nodiscard]] std::string history_text(const BaseHistory& history, const std::string& profile);

}  // namespace bk::bracket
