#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "http/transport.h"
#include "load/sample.h"

namespace bk::load {

/// One request and when it is meant to start.
struct PlannedRequest {
  http::Request request;
  Nanos offset = 0;  ///< after the run's start; see pacing.h
  /// Tokens that the reply must have when ignore_eos was asked for: fewer is Outcome::kShort.
  std::optional<std::int64_t> expected_tokens;
  /// Closed loop: place in the plan of an earlier request; this one starts as soon as that one has ended, and `offset`
  /// does not count.
  std::optional<std::size_t> after = {};
};

struct RunOptions {
  bool preconnect =
      true;  ///< open connections before the clock starts; off: `connect` is inside the run, apart from TTFT
  bool keep_text = true;  ///< keep the generated text in the records
  /// Called as each request ends, in order of ending, on the calling thread.
  std::function<void(std::size_t index, const stream::RequestRecord&)> on_done;
  /// Polled a few times a second; true ends the run: unfinished requests become Outcome::kCancelled.
  std::function<bool()> stopped;
};

/// What came of a run; requests stand in the order in which they were planned.
struct Run {
  Nanos started = 0, ended = 0;  ///< CLOCK_MONOTONIC: first intended start, last end
  Nanos started_wall = 0;        ///< stamp
  std::vector<stream::RequestRecord> requests;
  ClientCost client;
};

/// Runs every planned request on the transport and waits for all. A request's failure is in its record, never an error
/// here.
[[nodiscard]] Run run_requests(http::Transport& transport, std::vector<PlannedRequest> plan,
                               const RunOptions& options = {});

/// Sample fields that a run knows: times, requests, client cost.
void take_run(Run run, Sample* sample);

}  // namespace bk::load
