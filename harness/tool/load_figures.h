#pragma once
#include <string>
#include <vector>

#include "leg/concurrency.h"
#include "load/sample.h"
#include "stats/summary.h"

namespace bk::tool {

/// p50, p90 and p99 of one quantity over a cell's answered requests, by nearest rank.
struct Spread {
  stats::Percentile p50, p90, p99;
};

/// One cell of a sweep.
struct CellFigures {
  std::string cell;
  int concurrency = 0;  ///< streams, or the most at once in an open loop
  std::size_t requests = 0, failed = 0;
  std::optional<double> aggregate_tok_s, requests_per_s, goodput_per_s, good_share;
  std::optional<double> stream_tok_s;  ///< mean of the streams' decode_tok_s
  Spread ttft_ms, latency_ms;          ///< from the scheduled start
  Spread tpot_ms;
  std::optional<double> queued_ms_max;  ///< scheduled -> sent: the client's own delay
  std::string note;
};

[[nodiscard]] CellFigures load_figures(const load::Sample& sample);

}  // namespace bk::tool
