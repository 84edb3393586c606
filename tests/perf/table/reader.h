#pragma once
#include <string>

namespace bk::perf {

/// A chat event of exactly 240 bytes, its blank line included, as vLLM writes it.
[[nodiscard]] std::string event_text();

/// Events that the parser and the chunk reader take per CPU second, over 240-byte chat events in 16 KiB reads.
/// @param cpu_s  how long to measure, in CPU seconds
[[nodiscard]] double reader_events_per_core_s(double cpu_s);

}  // namespace bk::perf
