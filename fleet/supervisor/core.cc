#include "core.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bk::supervisor {

using Act = Action::Act;

const char* Core::state() const {
  switch (state_) {
    case State::kWaitFleet:
      return "wait_fleet";
    case State::kAdopt:
      return "adopt";
    case State::kLaunch:
      return "launch";
    case State::kHealth:
      return "health";
  }
  return "health";
}

std::vector<std::string> Core::take_events() { return std::exchange(events_, {}); }

Action Core::next(Nanos now) {
  if (second_look_ && now >= *second_look_) return {Act::kLookAtLoad, now, false, ""};
  if (std::exchange(reset_due_, false)) return {Act::kResetCache, now, false, ""};
  const Nanos until = second_look_ ? std::min(due_, *second_look_) : due_;
  if (now < until) return {Act::kWait, until, false, ""};
  switch (state_) {
    case State::kWaitFleet:
      return {Act::kLookAtFleet, now, false, ""};
    case State::kAdopt:
      return {Act::kTryAdopt, now, false, ""};
    case State::kLaunch:
      return {Act::kLaunch, now, after_fault_, reason_};
    case State::kHealth:
      break;
  }
  return {Act::kProbe, now, false, ""};
}

void Core::fleet(Nanos now, bool up, const std::string& why) {
  if (!up) {
    if (!std::exchange(fleet_was_down_, true)) say("waiting for the fleet: " + why);
    due_ = now + rules_.fleet_every;
    return;
  }
  if (std::exchange(fleet_was_down_, false)) say("the fleet is up");
  if (std::exchange(may_adopt_, false)) {
    state_ = State::kAdopt;
    due_ = now;
    return;
  }
  state_ = State::kLaunch;
  due_ = now + pause();
  if (launches_ >= 2) {
    say(fmt::format("flapping: {} launches without {:g} s of health; the next one in {:g} s", launches_,
                    to_s(rules_.stable_after), to_s(due_ - now)));
  }
}

void Core::adopted(Nanos now, bool healthy) {
  if (healthy) {
    say("adopted the engine that is running; its knobs are not proved");
    enter_health(now);
    return;
  }
  state_ = State::kLaunch;
  due_ = now;
}

void Core::launched(Nanos now, bool ok, const std::string& why) {
  ++launches_;
  if (ok) {
    say("launched");
    enter_health(now);
    return;
  }
  say("launch failed: " + why);
  leave_for_launch(now, "the last launch failed");
  after_fault_ = false;  // its log is kept; forensics of an engine that never served would push better ones out
}

void Core::gone(Nanos now, const std::string& why) {
  if (state_ != State::kHealth) return;
  say("the engine is gone: " + why);
  leave_for_launch(now, "the engine is gone");
}

void Core::enter_health(Nanos now) {
  state_ = State::kHealth;
  due_ = now + rules_.health_every;
  healthy_since_ = now;
  failed_in_a_row_ = 0;
  recent_.clear();
  last_.reset();
  own_tokens_ = 0;
  stuck_cycles_ = 0;
  blind_ = false;
}

void Core::leave_for_launch(Nanos now, const std::string& reason) {
  state_ = State::kWaitFleet;
  due_ = now;
  reason_ = reason;
  after_fault_ = true;
  second_look_.reset();
  reset_due_ = false;
}

Nanos Core::pause() const {
  if (launches_ == 0) return 0;
  Nanos pause = rules_.pause_first;
  for (int i = 1; i < launches_ && pause < rules_.pause_longest; ++i) pause *= 2;
  return std::min(pause, rules_.pause_longest);
}

void Core::probed(Nanos now, const Cycle& cycle) {
  due_ = now + rules_.health_every;
  recent_.push_back(!cycle.healthy);
  if (static_cast<int>(recent_.size()) > rules_.window) recent_.pop_front();
  const auto failed = static_cast<int>(std::count(recent_.begin(), recent_.end(), true));
  if (cycle.healthy) {
    if (failed_in_a_row_ > 0) say(fmt::format("healthy again after {} failed probes", failed_in_a_row_));
    failed_in_a_row_ = 0;
    if (now - healthy_since_ >= rules_.stable_after) launches_ = 0;
  } else {
    ++failed_in_a_row_;
    healthy_since_ = now;
    say(fmt::format("probe failed ({} of {} in a row): {}", failed_in_a_row_, rules_.failures, cycle.why));
  }
  if (failed_in_a_row_ >= rules_.failures)
    return leave_for_launch(now, fmt::format("{} probes failed in a row: {}", failed_in_a_row_, cycle.why));
  if (failed >= rules_.window_failures)
    return leave_for_launch(now, fmt::format("{} of the last {} probes failed: {}", failed, recent_.size(), cycle.why));
  watch_for_wedge(now, cycle);
  if (state_ == State::kHealth && cycle.healthy) consider_reset(now, cycle);
}

/// Tokens that the probes generated are taken off, else the watch would feed what it watches.
void Core::watch_for_wedge(Nanos now, const Cycle& cycle) {
  const double before_last_probe = own_tokens_;
  own_tokens_ += cycle.probe_tokens.value_or(kProbeTokens);
  if (!cycle.before) {
    if (cycle.healthy && !std::exchange(blind_, true)) say("no metrics page: a wedged engine cannot be seen");
    return;
  }
  blind_ = false;
  const auto last = std::exchange(last_, cycle.before);
  own_tokens_ = cycle.probe_tokens.value_or(kProbeTokens);
  if (!last) return;
  const double grown = cycle.before->generation_tokens - last->generation_tokens;
  const bool progress = grown < 0 || grown > before_last_probe;
  if (progress || cycle.before->running <= 0) {
    stuck_cycles_ = 0;
    return;
  }
  if (!cycle.healthy) return;
  if (++stuck_cycles_ < rules_.wedge_cycles) return;
  const std::string reason =
      fmt::format("wedged: {:g} requests run and no token came in {} cycles", cycle.before->running, stuck_cycles_);
  say(reason);
  leave_for_launch(now, reason);
}

void Core::consider_reset(Nanos now, const Cycle& cycle) {
  if (!rules_.reset_hour || cycle.hour != *rules_.reset_hour || cycle.day == reset_day_ || second_look_) return;
  if (!cycle.before || cycle.before->running + cycle.before->waiting > 0) return;
  second_look_ = now + rules_.reset_gap;
  look_day_ = cycle.day;
}

void Core::load(Nanos, const std::optional<Reading>& reading) {
  second_look_.reset();
  if (!reading || reading->running + reading->waiting > 0) return;
  reset_due_ = true;
  reset_day_ = look_day_;
  say("idle twice: the prefix cache is reset");
}

}  // namespace bk::supervisor
