#include "gate/korean.h"

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>

#include <algorithm>

namespace bk::gate {
namespace {

constexpr char32_t kReplacementChar = 0xFFFD;
constexpr std::size_t kContextBefore = 12, kContextAfter = 12;

std::u32string code_points(std::string_view utf8) {
  const auto text = icu::UnicodeString::fromUTF8(icu::StringPiece(utf8.data(), static_cast<int32_t>(utf8.size())));
  std::u32string out;
  out.reserve(static_cast<std::size_t>(text.length()));
  for (int32_t i = 0; i < text.length(); i = text.moveIndex32(i, 1)) {
    out += static_cast<char32_t>(text.char32At(i));
  }
  return out;
}

bool is_syllable(char32_t c) { return c >= 0xAC00 && c <= 0xD7A3; }

bool is_jamo(char32_t c) {
  return (c >= 0x1100 && c <= 0x11FF) || (c >= 0x3131 && c <= 0x318E) || (c >= 0xA960 && c <= 0xA97C) ||
         (c >= 0xD7B0 && c <= 0xD7FB) || (c >= 0xFFA1 && c <= 0xFFDC);
}

bool is_han(char32_t c) {
  UErrorCode status = U_ZERO_ERROR;
  return uscript_getScript(static_cast<UChar32>(c), &status) == USCRIPT_HAN && U_SUCCESS(status);
}

bool is_bad_control(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7F && c <= 0x9F);
  return control && c != U'\t' && c != U'\n' && c != U'\r';
}

bool is_blank(char32_t c) { return c == U' ' || c == 0x00A0 || c == 0x3000; }

/// An opening bracket, a dash, a colon or a comma, of any width.
bool introduces(char32_t c) {
  if (c == U':' || c == 0xFF1A || c == U',' || c == 0xFF0C || c == 0x3001) return true;
  const auto type = u_charType(static_cast<UChar32>(c));
  return type == U_START_PUNCTUATION || type == U_DASH_PUNCTUATION;
}

/// Hangul, optional blanks, one mark, optional blanks, then the Han run that begins at `at`.
bool is_glossed(const std::u32string& text, std::size_t at) {
  const auto skip_blanks = [&text](std::size_t i) {
    while (i > 0 && is_blank(text[i - 1])) --i;
    return i;
  };
  std::size_t i = skip_blanks(at);
  if (i == 0 || !introduces(text[i - 1])) return false;
  i = skip_blanks(i - 1);
  return i > 0 && is_syllable(text[i - 1]);
}

std::string utf8_of(const std::u32string& text, std::size_t begin, std::size_t end) {
  icu::UnicodeString out;
  for (std::size_t i = begin; i < end; ++i) {
    const bool control = text[i] < 0x20 || is_bad_control(text[i]);
    out.append(static_cast<UChar32>(control ? U' ' : text[i]));
  }
  std::string utf8;
  out.toUTF8String(utf8);
  return utf8;
}

std::string names_of(const std::u32string& text, std::size_t begin, std::size_t end) {
  std::string names;
  for (std::size_t i = begin; i < end; ++i) {
    names += fmt::format("{}U+{:04X}", i == begin ? "" : " ", static_cast<std::uint32_t>(text[i]));
  }
  return names;
}

/// The mark of the character at `at`, a Han run's being that of its first character; nothing for a sound one.
bool mark_at(const std::u32string& text, std::size_t at, KoreanMark& mark) {
  const char32_t c = text[at];
  if (c == kReplacementChar) {
    mark = KoreanMark::kReplacement;
  } else if (is_bad_control(c)) {
    mark = KoreanMark::kControl;
  } else if (is_jamo(c)) {
    const bool follows = at > 0 && is_syllable(text[at - 1]);
    mark = follows ? KoreanMark::kJamoAfterSyllable : KoreanMark::kOtherJamo;
  } else if (is_han(c)) {
    mark = is_glossed(text, at) ? KoreanMark::kGlossedHan : KoreanMark::kUnglossedHan;
  } else {
    return false;
  }
  return true;
}

}  // namespace

const char* to_string(KoreanMark mark) {
  static constexpr std::array<const char*, kKoreanMarks> kNames = {
      "replacement", "jamo_after_syllable", "unglossed_han", "control", "other_jamo", "glossed_han"};
  return kNames[static_cast<std::size_t>(mark)];
}

bool KoreanScan::dirty() const {
  return std::any_of(counts.begin(), counts.begin() + kGatedKoreanMarks, [](std::int64_t n) { return n > 0; });
}

KoreanScan& KoreanScan::operator+=(const KoreanScan& other) {
  characters += other.characters;
  syllables += other.syllables;
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
  places.insert(places.end(), other.places.begin(), other.places.end());
  return *this;
}

KoreanScan scan_korean(std::string_view utf8, bool cut_by_length) {
  std::u32string text = code_points(utf8);
  if (cut_by_length && !text.empty() && text.back() == kReplacementChar) text.pop_back();
  KoreanScan scan;
  scan.characters = static_cast<std::int64_t>(text.size());
  scan.syllables = std::count_if(text.begin(), text.end(), is_syllable);
  for (std::size_t i = 0; i < text.size();) {
    KoreanPlace place;
    if (!mark_at(text, i, place.mark)) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    while (is_han(text[i]) && end < text.size() && is_han(text[end])) ++end;
    scan.counts[static_cast<std::size_t>(place.mark)] += static_cast<std::int64_t>(end - i);
    place.at = static_cast<std::int64_t>(i);
    place.characters = names_of(text, i, end);
    place.context = utf8_of(text, i - std::min(i, kContextBefore), std::min(text.size(), end + kContextAfter));
    scan.places.push_back(std::move(place));
    i = end;
  }
  return scan;
}

const std::array<std::string_view, 8>& korean_prompts() {
  static constexpr std::array<std::string_view, 8> kPrompts = {
      "겨울철 감기를 예방하는 방법을 초등학생에게 말하듯이 자세히 설명해 주세요.",
      "김치를 처음 담그는 사람에게 배추 절이기부터 보관까지 순서대로 알려 주세요.",
      "서울에서 부산까지 기차로 여행하는 하루를 일기처럼 길게 써 주세요.",
      "작은 카페를 열려는 친구에게 준비할 일과 조심할 점을 편지로 써 주세요.",
      "컴퓨터가 글자를 저장하는 원리를 비유를 들어 쉽게 풀어 주세요.",
      "비 오는 날 오래된 책방에서 일어난 일을 짧은 이야기로 지어 주세요.",
      "도시에 나무를 더 심어야 하는 이유를 세 문단으로 주장해 주세요.",
      "잠을 잘 자지 못하는 사람에게 도움이 되는 저녁 습관을 차근차근 소개해 주세요.",
  };
  return kPrompts;
}

}  // namespace bk::gate
