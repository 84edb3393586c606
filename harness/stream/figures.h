#pragma once
#include <cstdint>
#include <optional>

#include "stream/record.h"

namespace bk::stream {

/// From here on a single stream's rate is no decode: the fastest models served today stay below about 3,000 tok/s, on
/// special hardware, and an answer that was held back and sent at once shows 100,000 and more. Between the two lies
/// room for engines to come.
inline constexpr double kFastestStream_tok_s = 20'000;
/// Why a rate of kFastestStream_tok_s or more is null.
inline constexpr const char* kTooFast = "faster_than_any_engine";

/// Tokens per second of one stream over `window`; "zero_window", or kTooFast. Every rate at which one answer came goes
/// through here.
[[nodiscard]] Figure stream_rate(double tokens, Nanos window);

/// Fills the figures of a record whose times, events, counts and outcome are set (DESIGN section 4).
/// `after_first`: tokens of the events after the first, where the count of every event is known. A record that is not
/// ok gets reasons only.
void compute_figures(RequestRecord& record, std::optional<std::int64_t> after_first);

}  // namespace bk::stream
