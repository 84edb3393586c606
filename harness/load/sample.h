#pragma once
#include <map>
#include <string>
#include <vector>

#include "engine/acceptance.h"
#include "stream/record.h"

namespace bk::load {

/// What the client itself cost while a sample ran.
struct ClientCost {
  double cpu_share = 0;   ///< CPU seconds per wall second of this process
  Nanos worst_delay = 0;  ///< longest time that ready data waited
};

/// One measured repetition: one request, or one round of `concurrency` requests at once.
struct Sample {
  std::string leg;   ///< "decode", "probe", "context" …
  std::string cell;  ///< what was measured, e.g. "C=1", "2K": samples of one cell repeat each other
  int concurrency = 1;
  int index = 0;                 ///< repetition, from 0
  bool warmup = false;           ///< discarded by every analysis, kept in the database
  Nanos started = 0, ended = 0;  ///< CLOCK_MONOTONIC
  Nanos started_wall = 0;        ///< stamp
  std::vector<stream::RequestRecord> requests;
  engine::AcceptanceDelta acceptance;
  ClientCost client;
  std::vector<double> step_windows;  ///< engine steps per second, each between two readings of its own step counter
  /// The sample's figures by metric name with its unit ("decode_tok_s", "round_tok_s", "ttft_ms", "tpot_ms",
  /// "prefill_tok_s", "step_s"), each a value or a reason.
  std::map<std::string, stream::Figure> metrics;

  [[nodiscard]] bool ok() const;  ///< every request ok, and at least one
};

}  // namespace bk::load
