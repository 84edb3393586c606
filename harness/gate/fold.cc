#include "gate/fold.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>

#include <cstddef>

#include "base/check.h"

namespace bk::gate {
namespace {

std::u32string to_code_points(const icu::UnicodeString& text) {
  std::u32string out;
  out.reserve(static_cast<std::size_t>(text.length()));
  for (int32_t i = 0; i < text.length(); i = text.moveIndex32(i, 1)) {
    out += static_cast<char32_t>(text.char32At(i));
  }
  return out;
}

bool is_thin_space(char32_t c) { return c == 0x00A0 || c == 0x2007 || c == 0x2009 || c == 0x202F; }

/// NFKC turns thin and no-break spaces into plain ones, so those between digits become commas before it.
icu::UnicodeString mark_digit_spaces(const icu::UnicodeString& text) {
  icu::UnicodeString out(text);
  for (int32_t i = 1; i + 1 < out.length(); ++i) {
    const auto at = [&out](int32_t k) { return static_cast<char32_t>(out.charAt(k)); };
    if (is_thin_space(at(i)) && is_digit(at(i - 1)) && is_digit(at(i + 1))) out.setCharAt(i, u',');
  }
  return out;
}

char32_t folded_mark(char32_t c) {
  switch (c) {
    case 0x2010:  // hyphen
    case 0x2011:  // no-break hyphen
    case 0x2012:  // figure dash
    case 0x2013:  // en dash
    case 0x2043:  // hyphen bullet
    case 0x2212:  // minus
      return U'-';
    case 0x2018:
    case 0x2019:
      return U'\'';
    default:
      return c;
  }
}

std::size_t digits_from(const std::u32string& text, std::size_t at) {
  std::size_t n = 0;
  while (at + n < text.size() && is_digit(text[at + n])) ++n;
  return n;
}

std::u32string without_thousands_separators(const std::u32string& text) {
  std::u32string out;
  std::size_t run = 0;   // digits since the number began, as written
  bool grouped = false;  // a separator was taken out of this number
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    const bool separator = c == U',' || c == U'\'';
    if (separator && run > 0 && (grouped || run <= 3) && digits_from(text, i + 1) == 3) {
      grouped = true;
      continue;
    }
    run = is_digit(c) ? run + 1 : 0;
    if (run == 0) grouped = false;
    out += c;
  }
  return out;
}

/// "14th" -> "14".
std::u32string without_ordinals(const std::u32string& text) {
  std::u32string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (!is_digit(text[i]) || i + 2 >= text.size()) continue;
    const std::u32string ending = text.substr(i + 1, 2);
    const bool ordinal = ending == U"st" || ending == U"nd" || ending == U"rd" || ending == U"th";
    if (ordinal && (i + 3 == text.size() || !is_alnum(text[i + 3]))) i += 2;
  }
  return out;
}

}  // namespace

bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }

bool is_alnum(char32_t c) { return u_isalnum(static_cast<UChar32>(c)) != 0; }

bool is_east_asian_letter(char32_t c) {
  UErrorCode status = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(static_cast<UChar32>(c), &status);
  return U_SUCCESS(status) && (script == USCRIPT_HANGUL || script == USCRIPT_HAN || script == USCRIPT_HIRAGANA ||
                               script == USCRIPT_KATAKANA);
}

std::u32string fold(std::string_view utf8) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* normalizer = icu::Normalizer2::getNFKCCasefoldInstance(status);
  BK_CHECK(U_SUCCESS(status));  // part of ICU's own data
  const auto text = icu::UnicodeString::fromUTF8(icu::StringPiece(utf8.data(), static_cast<int32_t>(utf8.size())));
  std::u32string folded = to_code_points(normalizer->normalize(mark_digit_spaces(text), status));
  BK_CHECK(U_SUCCESS(status));
  for (char32_t& c : folded) c = folded_mark(c);
  return without_ordinals(without_thousands_separators(folded));
}

}  // namespace bk::gate
