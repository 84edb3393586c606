#pragma once
#include <cstddef>

namespace bk::trace {

/// Where the JSON number that starts at `at` ends, at most `end`; `at` itself when there is none. Seven bytes after
/// `end` may be read.
[[nodiscard]] std::size_t number_end(const char* text, std::size_t at, std::size_t end);

}  // namespace bk::trace
