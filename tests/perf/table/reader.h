#pragma once

namespace bk::perf {

/// Events that the parser and the chunk reader take per CPU second, over 240-byte chat events in 16 KiB reads.
/// @param cpu_s  how long to measure, in CPU seconds
[[nodiscard]] double reader_events_per_core_s(double cpu_s);

}  // namespace bk::perf
