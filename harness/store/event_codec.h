#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/rows.h"

namespace bk::store {

/// The event arrays of one request as one blob: a format byte (1), the length of what was compressed (varint), then
/// zlib data of, for each event, the time since the event before (zigzag varint, ns) and its tokens + 1 (zigzag
/// varint).
[[nodiscard]] Result<std::string> encode_events(const std::vector<EventRow>& events);
/// kParse when the blob is not such a thing.
[[nodiscard]] Result<std::vector<EventRow>> decode_events(std::string_view blob);

}  // namespace bk::store
