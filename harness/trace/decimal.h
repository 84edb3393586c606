#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace bk::trace {

/// Microseconds as a JSON number's text, in whole nanoseconds: "12.3456" is 12346, "5.1e3" is 5100000. Read digit by
/// digit, so that no binary fraction comes between; beyond nanoseconds halves round away from zero. Nothing when the
/// text is no JSON number or the value leaves 63 bits.
[[nodiscard]] std::optional<std::int64_t> nanos_of_micros(std::string_view text);

}  // namespace bk::trace
