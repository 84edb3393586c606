#pragma once
#include <string>

#include "physics/engine.h"

namespace bk::sim {

/// What one metrics page shows.
struct MetricsView {
  physics::EngineCounters counters;
  int running = 0, waiting = 0;
  double kv_usage_ratio = 0;
  double process_start_s = 0;  ///< seconds since the epoch
  std::string model;
  int engines = 1;  ///< ranks among which the counts are split; sums stay true
  std::int64_t finished_stop = 0, finished_length = 0, finished_abort = 0;
};

/// Prometheus text in the names and forms of vLLM, `_created` gauges included.
[[nodiscard]] std::string metrics_page(const MetricsView& view);

}  // namespace bk::sim
