#pragma once
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace bk::perf {

/// One run of `streams` requests at once.
struct ClientPlan {
  std::string url;
  int streams = 1;
  bool keep_events = true;  ///< report every event's arrival
};

/// Runs it in this process and says what it cost: "cpu_s", "rss_mb" (peak), "open" (most at once), "failed",
/// "first_failure", "requests": [{"id", "sent", "events": [arrival…]}], all times CLOCK_MONOTONIC nanoseconds.
[[nodiscard]] Json run_client(const ClientPlan& plan);

/// The same in a process of its own (`program` is this one), so that its memory and CPU are those of the run alone.
[[nodiscard]] Result<Json> run_client_apart(const std::string& program, const ClientPlan& plan);

/// Peak resident memory of this process in megabytes (10^6 bytes).
[[nodiscard]] double peak_rss_mb();

}  // namespace bk::perf
