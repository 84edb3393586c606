#include "rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace bk::supervisor {

Rules scaled(const Rules& rules, double scale) {
  Rules faster = rules;
  for (Nanos Rules::*each :
       {&Rules::fleet_every, &Rules::health_every, &Rules::models_limit, &Rules::chat_limit, &Rules::launch_limit,
        &Rules::pause_first, &Rules::pause_longest, &Rules::stable_after, &Rules::reset_gap}) {
    faster.*each = static_cast<Nanos>(static_cast<double>(rules.*each) / scale);
  }
  faster.models_limit = std::max(faster.models_limit, std::min(rules.models_limit, kSecond));
  faster.chat_limit = std::max(faster.chat_limit, std::min(rules.chat_limit, kSecond));
  return faster;
}

std::vector<Detection> detections(const Rules& rules) {
  const auto seconds = [](Nanos t) { return fmt::format("{:g}", to_s(t)); };
  const std::string every = seconds(rules.health_every);
  const auto failing = [&](const char* what, Nanos limit) {
    return Detection{what, rules.failures * (rules.health_every + limit),
                     fmt::format("{} x ({} + {}) s", rules.failures, every, seconds(limit))};
  };
  return {
      {"process gone", rules.watch_every, fmt::format("{} s, an engine launched here", seconds(rules.watch_every))},
      {"port closed", rules.failures * rules.health_every, fmt::format("{} x {} s", rules.failures, every)},
      failing("no answer at all", rules.models_limit),
      failing("lists its model, generates nothing", rules.chat_limit),
      {"answers now and then", rules.window * rules.health_every + rules.window_failures * rules.chat_limit,
       fmt::format("{} x {} + {} x {} s and the healthy probes' own time", rules.window, every, rules.window_failures,
                   seconds(rules.chat_limit))},
      {"wedged: requests run, no token comes", (rules.wedge_cycles + 1) * rules.health_every,
       fmt::format("{} x {} s and the probes' own time", rules.wedge_cycles + 1, every)},
      {"boot over its grace", rules.launch_limit, seconds(rules.launch_limit) + " s"},
  };
}

}  // namespace bk::supervisor
