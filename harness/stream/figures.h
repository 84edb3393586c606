#pragma once
#include <cstdint>
#include <optional>

#include "stream/record.h"

namespace bk::stream {

/// Fills the figures of a record whose times, events, counts and outcome are set (DESIGN section 4).
/// `after_first`: tokens of the events after the first, where the count of every event is known. A record that is not
/// ok gets reasons only.
void compute_figures(RequestRecord& record, std::optional<std::int64_t> after_first);

}  // namespace bk::stream
