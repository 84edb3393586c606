#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "stream/record.h"

namespace bk::leg {

/// One stretch of a stream: tokens that arrived in (begin, end], without the stream's first event, and the gaps between
/// its token events.
struct Phase {
  std::string name;          ///< "before", "during", "after"
  Nanos begin = 0, end = 0;  ///< after the stream's request was sent
  std::int64_t events = 0;
  stream::Figure tokens;              ///< nothing when the server does not say what each event carries
  stream::Figure tok_s, events_s;     ///< over the stretch
  stream::Figure gap_ms, gap_max_ms;  ///< median and longest
};

struct Gap {
  Nanos begin = 0;  ///< the event before it, after the stream's request was sent
  Nanos length = 0;
  std::string phase;
};

/// A stream while another request's prefill lands.
struct Disturbance {
  Nanos ingest_begin = 0, ingest_end = 0;  ///< after the stream's request was sent
  std::vector<Phase> phases;               ///< before, during, after
  std::vector<Gap> longest;                ///< at most eight, longest first
};

/// Cuts a stream's events at the moment when the ingest was sent and when it ended. A gap that overlaps the ingest
/// belongs to "during". kServer when one of them failed; kInconclusive when the ingest began before the stream's first
/// token or after its last: then there is nothing to compare.
[[nodiscard]] Result<Disturbance> disturbance_of(const stream::RequestRecord& stream,
                                                 const stream::RequestRecord& ingest);

}  // namespace bk::leg
