#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core.h"

namespace bk::supervisor::test {

/// What a probe meets at one moment: how long it takes and how it ends.
struct Meeting {
  Nanos takes = 0;
  bool healthy = true;
};

/// An engine and its users in virtual time, and a program that does what the core says.
class World {
 public:
  World(const Rules& rules, bool may_adopt) : core(rules, may_adopt) {}

  Core core;
  Nanos now = 0;
  Nanos boot = 60 * kSecond;
  std::function<Meeting(Nanos)> meet = [](Nanos) { return Meeting{}; };
  std::function<double(Nanos)> running = [](Nanos) { return 0.0; };
  std::function<double(Nanos)> foreign_tokens = [](Nanos) { return 0.0; };  ///< by others until that time
  std::function<bool(Nanos)> fleet_up = [](Nanos) { return true; };
  std::function<bool(int)> boots = [](int) { return true; };  ///< whether the n-th launch succeeds, from 0
  std::function<int(Nanos)> hour = [](Nanos) { return 12; };
  bool engine_there = false;
  bool metrics = true;
  double probe_tokens = 0;

  std::vector<Nanos> launches;  ///< when each was decided
  std::vector<bool> forensics;  ///< whether each launch comes after an engine that served
  std::vector<std::string> reasons, events;
  std::vector<Nanos> probe_ends, resets;
  std::vector<double> readings;  ///< the raw counter at each cycle

  /// Does what the core says until it decides the n-th launch (from 1), or until `limit`.
  void run(std::size_t launch_count, Nanos limit) {
    while (now < limit && launches.size() < launch_count) {
      const Action action = core.next(now);
      act(action, limit);
      for (std::string& event : core.take_events()) events.push_back(std::move(event));
    }
  }

 private:
  [[nodiscard]] Reading reading() const { return {running(now), 0, foreign_tokens(now) + probe_tokens}; }

  void act(const Action& action, Nanos limit) {
    using Act = Action::Act;
    if (action.act == Act::kWait) now = std::min(action.until, limit);
    if (action.act == Act::kLookAtFleet) core.fleet(now, fleet_up(now), "node 2 is down");
    if (action.act == Act::kTryAdopt) core.adopted(now, engine_there);
    if (action.act == Act::kLookAtLoad) core.load(now, reading());
    if (action.act == Act::kResetCache) resets.push_back(now);
    if (action.act == Act::kLaunch) launch(action);
    if (action.act == Act::kProbe) probe();
  }

  void launch(const Action& action) {
    launches.push_back(now);
    forensics.push_back(action.after_fault);
    reasons.push_back(action.reason);
    now += boot;
    core.launched(now, boots(static_cast<int>(launches.size()) - 1), "the engine died");
  }

  void probe() {
    Cycle cycle;
    if (metrics) cycle.before = reading();
    if (metrics) readings.push_back(cycle.before->generation_tokens);
    cycle.hour = hour(now);
    cycle.day = static_cast<int>(now / (86400 * kSecond));
    const Meeting met = meet(now);
    now += met.takes;
    cycle.healthy = met.healthy;
    cycle.why = "no answer";
    if (met.healthy) {
      cycle.probe_tokens = kProbeTokens;
      probe_tokens += kProbeTokens;
    }
    probe_ends.push_back(now);
    core.probed(now, cycle);
  }
};

}  // namespace bk::supervisor::test
