#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace bk::overlay {

/// The bytes that pairs of lower-case hex digits stand for, else nothing.
[[nodiscard]] std::optional<std::string> from_hex(std::string_view digits);

}  // namespace bk::overlay
