#pragma once
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "rules.h"

namespace bk::supervisor {

/// Most tokens that one probe may generate.
inline constexpr int kProbeTokens = 4;

/// The engine's counters at one moment.
struct Reading {
  double running = 0;            ///< requests that run
  double waiting = 0;            ///< requests that wait
  double generation_tokens = 0;  ///< since the engine started
};

/// One health cycle. `before` is read before the probe, so that the probe is not among what runs.
struct Cycle {
  bool healthy = false;             ///< the model is listed and a chat generated
  std::string why;                  ///< what failed
  std::optional<Reading> before;    ///< nothing: no metrics page
  std::optional<int> probe_tokens;  ///< what the probe generated; nothing when that is not known (0..kProbeTokens)
  int hour = -1;                    ///< of local time
  int day = -1;                     ///< any number that another day changes
};

/// What the program has to do now.
struct Action {
  enum class Act {
    kWait,         ///< nothing before `until`
    kLookAtFleet,  ///< are all nodes up? -> fleet()
    kTryAdopt,     ///< is a healthy engine there already? -> adopted()
    kLaunch,       ///< collect forensics when `after_fault`, stop what runs, boot -> launched()
    kProbe,        ///< one health cycle -> probed()
    kLookAtLoad,   ///< read the counters -> load()
    kResetCache,   ///< POST /reset_prefix_cache
  };
  Act act = Act::kWait;
  Nanos until = 0;
  bool after_fault = false;
  std::string reason;  ///< of a launch
};

/// The rules of the watch as a machine without a clock, a socket or a process: observations go in with the time at
/// which they were made, and next() says what to do.
class Core {
 public:
  Core(const Rules& rules, bool may_adopt) : rules_(rules), may_adopt_(may_adopt) {}

  [[nodiscard]] Action next(Nanos now);

  void fleet(Nanos now, bool up, const std::string& why);
  void adopted(Nanos now, bool healthy);
  void launched(Nanos now, bool ok, const std::string& why);
  void probed(Nanos now, const Cycle& cycle);
  void load(Nanos now, const std::optional<Reading>& reading);
  /// The engine's process ended.
  void gone(Nanos now, const std::string& why);

  /// What happened since the last call, one line each, in order: for the log.
  [[nodiscard]] std::vector<std::string> take_events();
  [[nodiscard]] const char* state() const;

 private:
  enum class State { kWaitFleet, kAdopt, kLaunch, kHealth };

  void say(std::string event) { events_.push_back(std::move(event)); }
  void enter_health(Nanos now);
  void leave_for_launch(Nanos now, const std::string& reason);
  void watch_for_wedge(Nanos now, const Cycle& cycle);
  void consider_reset(Nanos now, const Cycle& cycle);
  [[nodiscard]] Nanos pause() const;

  Rules rules_;
  bool may_adopt_;
  State state_ = State::kWaitFleet;
  Nanos due_ = 0;  // of the next look, launch or probe
  std::string reason_ = "no engine is running";
  bool after_fault_ = false;
  bool fleet_was_down_ = false;
  int launches_ = 0;  // without a stable time between
  Nanos healthy_since_ = 0;
  int failed_in_a_row_ = 0;
  std::deque<bool> recent_;  // failed cycles, newest last
  std::optional<Reading> last_;
  double own_tokens_ = 0;  // that probes generated since `last_`, at most
  int stuck_cycles_ = 0;
  bool blind_ = false;  // no metrics: the wedge watch sees nothing
  std::optional<Nanos> second_look_;
  bool reset_due_ = false;
  int reset_day_ = -1;  // on which a reset was done
  int look_day_ = -1;
  std::vector<std::string> events_;
};

}  // namespace bk::supervisor
