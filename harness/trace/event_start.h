#pragma once
#include <cstddef>
#include <string_view>

namespace bk::trace {

/// Whether an event seems to start at `at`: a `{` after a comma, before a member named ph, name, cat, pid, tid, ts or
/// args. A name, or an argument, may hold the same bytes.
[[nodiscard]] bool event_seems_to_start(std::string_view bytes, std::size_t at);
/// The first such place from `from` on, else the size of the bytes.
[[nodiscard]] std::size_t first_event_start(std::string_view bytes, std::size_t from);
/// The last such place, or 0.
[[nodiscard]] std::size_t last_event_start(std::string_view bytes);

}  // namespace bk::trace
