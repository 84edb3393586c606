#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "boot/launcher.h"
#include "bracket/assess_bracket.h"
#include "bracket/plan.h"
#include "http/transport.h"
#include "leg/sink.h"
#include "store/store.h"

namespace bk::bracket {

/// Who is told what happens while a bracket runs. Samples and gates come when they are on disk.
class Watcher : public leg::Sink {
 public:
  /// "boot 2/5 cand": what everything after it belongs to.
  virtual void stage(const std::string& text) = 0;
  /// A boot is done and its engine is gone.
  virtual void boot_done(const std::string& text) = 0;
};

/// What executing a plan needs from outside.
struct Tools {
  store::Database& database;
  boot::Launcher& launcher;
  Watcher& watcher;
  std::function<std::unique_ptr<http::Transport>()> transport;  ///< a fresh one for every boot
  std::function<bool()> stopped;                                ///< polled; true ends the run with kInterrupted
  std::filesystem::path log_dir;  ///< engine logs: <log_dir>/<bracket>-<position>-<attempt>.log
  std::filesystem::path bin_dir;  ///< empty: beside the running program
  std::string api_key;            ///< for engines that want one; never stored
};

/// How a bracket ended.
struct Outcome {
  Judgement judgement;
  int gates_failed = 0;  ///< gates of boots of this bracket that failed or found no answer
};

/// A plan as rows, not stored yet.
[[nodiscard]] std::pair<store::PlanRow, store::BracketRow> plan_rows(const Plan& plan, const std::string& reopen);

/// Stores plan and bracket; nothing is booted. Gives the bracket's row.
/// @param reopen  why a rejected axis is measured again; empty: it is not.
[[nodiscard]] Result<store::RowId> store_plan(store::Database& database, const Plan& plan, const std::string& reopen);

/// Runs every boot of the plan that is not done yet, then assesses and stores the assessment. A boot that was begun and
/// not finished is run again whole. A bracket that turns out void ends at once, with the void assessment stored.
/// Errors leave the bracket resumable: what the launcher says, kInterrupted, kEnvironment when the engine dies in a
/// leg, kIo from the database.
/// @param run  the program's own row, which the legs name.
[[nodiscard]] Result<Outcome> execute(const Tools& tools, const boot::Profile& profile, const Plan& plan,
                                      store::RowId bracket, store::RowId run);

/// A stored bracket that `resume` may finish. kRefused naming what changed when the profile is no longer what was
/// planned, or when the bracket is done, void or imported.
[[nodiscard]] Result<Plan> resumable_plan(store::Database& database, const store::BracketRow& bracket,
                                          const boot::Profile& profile);

/// Seconds that the plan will take, by the profile's latest finished boots; nothing when there are none.
[[nodiscard]] Result<std::optional<double>> estimated_seconds(store::Database& database, const Plan& plan);

}  // namespace bk::bracket
