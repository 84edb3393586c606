#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace bk::boot {

/// The regular expression of a log proof: {VALUE} becomes a group.
[[nodiscard]] std::string log_pattern(std::string_view text);

/// Whether the group of {VALUE} can read this value whole: it ends at blanks, commas, semicolons and quotes.
[[nodiscard]] bool value_can_be_read(std::string_view value);

/// Why a regular expression that compiles can match no single line, or a branch of it none; nothing when no such reason
/// is seen: a line end, '^' after something or '$' before something that a line must hold there.
[[nodiscard]] std::optional<std::string> never_matches(std::string_view pattern);

}  // namespace bk::boot
