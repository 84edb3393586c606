#pragma once
#include <string>
#include <vector>

#include "leg/phases.h"

namespace bk::streamgap {

/// Token rate over the stream in slices of equal length.
struct Timeline {
  Nanos slice = 0;            ///< length of one slice
  std::vector<double> rates;  ///< per second; tokens where every event says how many, else events
  bool tokens = true;         ///< false: events
  Nanos ingest_begin = 0, ingest_end = 0;
};

/// @param slices  how many, at least 1.
[[nodiscard]] Timeline timeline_of(const stream::RequestRecord& stream, const leg::Disturbance& disturbance,
                                   int slices);

/// Bars of `height` lines over a time axis; the line under them marks the ingest with "=".
[[nodiscard]] std::string ascii(const Timeline& timeline, int height);
/// A picture of its own, without scripts or external parts.
[[nodiscard]] std::string svg(const Timeline& timeline);

}  // namespace bk::streamgap
