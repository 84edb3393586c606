#include "watch.h"

#include <algorithm>

#include "core.h"
#include "fleet_look.h"
#include "forensics.h"

namespace bk::supervisor {
namespace {

using Act = Action::Act;

class Watch {
 public:
  Watch(const Rules& rules, Lane& lane, const std::function<bool()>& stop, const Journal& journal)
      : rules_(rules),
        lane_(lane),
        stop_(stop),
        journal_(journal),
        prober_(rules, stop),
        core_(rules, lane.has_fixed_port()) {}

  Status run() {
    while (!stop_()) {
      BK_TRY(act(core_.next(monotonic_now())));
      for (const std::string& event : core_.take_events()) say(event);
    }
    if (!lane_.owns_engine()) {
      say(adopted_ ? "stopping; the engine was adopted and is left running" : "stopping; no engine runs");
      return {};
    }
    say("stopping the engine");
    BK_TRY(lane_.stop());
    say("stopped");
    return {};
  }

 private:
  void say(const std::string& event) { journal_(core_.state(), event); }

  Status act(const Action& action) {
    switch (action.act) {
      case Act::kWait:
        wait(action.until);
        return {};
      case Act::kLookAtFleet:
        look_at_nodes();
        return {};
      case Act::kTryAdopt:
        adopted_ = prober_.cycle(lane_.endpoint(), lane_.served_model()).healthy;
        core_.adopted(monotonic_now(), adopted_);
        return {};
      case Act::kLaunch:
        return launch(action);
      case Act::kProbe:
        probe();
        return {};
      case Act::kLookAtLoad:
        core_.load(monotonic_now(), prober_.read(lane_.endpoint()));
        return {};
      case Act::kResetCache:
        if (const auto reset = prober_.reset_cache(lane_.endpoint()); !reset)
          say("the prefix cache was not reset: " + reset.error().text());
        return {};
    }
    return {};
  }

  void look_at_nodes() {
    const auto root = std::filesystem::absolute(lane_.profile().path).parent_path().parent_path();
    const Status up = look_at_fleet(lane_.profile(), root);
    core_.fleet(monotonic_now(), up.has_value(), up ? "" : up.error().what);
  }

  void wait(Nanos until) {
    SystemClock clock;
    clock.sleep_until(std::min(until, clock.now() + rules_.watch_every));
    if (const auto why = lane_.gone()) core_.gone(clock.now(), *why);
  }

  Status launch(const Action& action) {
    say("launching: " + action.reason);
    if (action.after_fault) {
      const auto dir = collect_forensics(lane_, prober_, action.reason);
      // A full disk must not keep the engine down.
      say(dir ? "forensics are in " + dir->string() : "no forensics were kept: " + dir.error().text());
    }
    const auto launched = lane_.launch([this](const std::string& line) { say(line); });
    if (stop_()) return {};
    core_.launched(monotonic_now(), launched.has_value(), launched ? "" : launched.error().text());
    return {};
  }

  void probe() {
    const Cycle cycle = prober_.cycle(lane_.endpoint(), lane_.served_model());
    if (stop_()) return;
    if (const auto why = lane_.gone()) return core_.gone(monotonic_now(), *why);
    core_.probed(monotonic_now(), cycle);
  }

  Rules rules_;
  Lane& lane_;
  const std::function<bool()>& stop_;
  const Journal& journal_;
  Prober prober_;
  Core core_;
  bool adopted_ = false;
};

}  // namespace

Status watch(const Rules& rules, Lane& lane, const std::function<bool()>& stop, const Journal& journal) {
  return Watch(rules, lane, stop, journal).run();
}

}  // namespace bk::supervisor
