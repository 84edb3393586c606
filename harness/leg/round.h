#pragma once
#include <functional>
#include <string>
#include <vector>

#include "engine/endpoint.h"
#include "http/transport.h"
#include "load/runner.h"
#include "load/sample.h"

namespace bk::leg {

/// One repetition: what it is called, and the requests that make it.
struct Round {
  std::string leg, cell;
  int concurrency = 1;
  int index = 0;
  bool warmup = false;
  std::vector<load::PlannedRequest> requests;
  Nanos step_window = 0;  ///< time between two readings of the engine's step counter meanwhile; 0: none
};

/// Reads the engine's counters, runs the requests, reads the counters again and fills the sample's figures. A server
/// without counters gives a sample without acceptance, and the reason. With a step window the metric window_step_s is
/// the median of the sample's windows. kInterrupted when `stopped` ended it.
[[nodiscard]] Result<load::Sample> run_round(http::Transport& transport, const engine::Endpoint& endpoint, Round round,
                                             const std::function<bool()>& stopped);

}  // namespace bk::leg
