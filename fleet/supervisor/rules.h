#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace bk::supervisor {

/// Limits and periods of the watch. Figures: those of the fleet that the rules come from; each is a wall time.
struct Rules {
  Nanos fleet_every = 10 * kSecond;   ///< between looks at nodes that are not up
  Nanos health_every = 30 * kSecond;  ///< from the end of one health cycle to the start of the next
  Nanos models_limit = 5 * kSecond;   ///< for /v1/models
  Nanos chat_limit = 300 * kSecond;  ///< for a chat of four tokens: an ingest of 430K tokens blocks new requests ~170 s
  int failures = 3;                  ///< failed cycles in a row that mean a launch
  int window = 10;                   ///< cycles that are looked back on …
  int window_failures = 5;           ///< … and failed ones among them that mean a launch
  int wedge_cycles = 30;             ///< healthy cycles in a row with requests running and no token but the probes' own
  Nanos launch_limit = 3600 * kSecond;  ///< from the start of an engine until it generated: its boot grace
  Nanos pause_first = 30 * kSecond;     ///< before the second launch without a stable time between; doubles then
  Nanos pause_longest = 900 * kSecond;  ///< where the doubling ends
  Nanos stable_after = 1800 * kSecond;  ///< health that long makes the next launch a first one again
  std::optional<int> reset_hour =
      4;                           ///< hour of local time in which an idle engine's prefix cache is reset; none: never
  Nanos reset_gap = 20 * kSecond;  ///< between the two looks that have to find it idle
  Nanos watch_every = 100 * kMillisecond;  ///< between looks at the process of an engine that was launched here
};

/// Every duration divided by `scale`, for rehearsals and tests. Counts stay; so does the look at the process, and an
/// answer has a second at least, since the machine does not become faster.
[[nodiscard]] Rules scaled(const Rules& rules, double scale);

/// One way in which an engine fails, and how long the rules take at most to see it.
struct Detection {
  std::string what;
  Nanos at_most = 0;
  std::string sum;  ///< how it adds up
};

/// The worst detection times that the rules imply: from the fault to the decision to launch.
[[nodiscard]] std::vector<Detection> detections(const Rules& rules);

}  // namespace bk::supervisor
