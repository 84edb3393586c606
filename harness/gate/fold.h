#pragma once
#include <string>
#include <string_view>

namespace bk::gate {

/// Text as values are compared: case and compatibility forms folded (NFKC_Casefold), dash forms one '-', apostrophes
/// one
/// '\'', thousands separators inside numbers and ordinal endings after digits gone. Code points.
[[nodiscard]] std::u32string fold(std::string_view utf8);

/// A letter or digit of any script.
[[nodiscard]] bool is_alnum(char32_t c);
[[nodiscard]] bool is_digit(char32_t c);  ///< ASCII; fold() has turned the other decimal digits of width forms into it
/// A letter of Hangul, Han, Hiragana or Katakana: scripts that are written on to a foreign word without a blank.
[[nodiscard]] bool is_east_asian_letter(char32_t c);

}  // namespace bk::gate
