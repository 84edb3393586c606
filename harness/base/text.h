#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bk {

/// Pieces between separators; "a,,b" has three. Views into `text`.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
/// Lines without their ends; LF and CRLF. A last line without an end counts.
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text);
/// Without blanks, tabs, CR and LF at both ends.
[[nodiscard]] std::string_view trim(std::string_view text);
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);
[[nodiscard]] std::string to_lower(std::string_view text);  ///< ASCII only

/// The whole text as a decimal number, else nothing: no blanks, no trailing bytes, no overflow.
[[nodiscard]] std::optional<std::int64_t> parse_int(std::string_view text);
/// The whole text as a finite number, else nothing.
[[nodiscard]] std::optional<double> parse_double(std::string_view text);

/// Number of single-character edits between two words.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);
/// The candidate nearest to `word`, when it is near enough to be meant (distance <= 1 + length/4).
[[nodiscard]] std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

/// `text` with every occurrence of each secret (not empty) replaced by "***".
[[nodiscard]] std::string redact(std::string text, const std::vector<std::string>& secrets);
/// True when the bytes are well-formed UTF-8.
[[nodiscard]] bool is_utf8(std::string_view text);
/// "1m 05s", "12.3 s", "45 ms": for people.
[[nodiscard]] std::string human_duration(double seconds);

}  // namespace bk
