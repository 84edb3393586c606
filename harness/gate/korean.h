#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bk::gate {

/// What damaged Korean text shows. The first four are gated; the rest are counted for information.
enum class KoreanMark {
  kReplacement,        ///< U+FFFD
  kJamoAfterSyllable,  ///< a single jamo directly after a precomposed syllable
  kUnglossedHan,       ///< Han characters that no Korean word introduces
  kControl,            ///< C0 and C1 controls and DEL, except tab, LF and CR
  kOtherJamo,          ///< any other jamo
  kGlossedHan,         ///< Han after Hangul and a bracket, dash, colon or comma: 태양(太陽)
};
inline constexpr std::size_t kKoreanMarks = 6;
inline constexpr std::size_t kGatedKoreanMarks = 4;
const char* to_string(KoreanMark mark);  ///< "replacement", "jamo_after_syllable", "unglossed_han" …

/// One place; a run of Han characters of one kind is one place.
struct KoreanPlace {
  KoreanMark mark = KoreanMark::kReplacement;
  std::int64_t at = 0;     ///< in characters from the text's beginning
  std::string characters;  ///< what stands there, as "U+FFFD" or "U+7684 U+786E"
  std::string context;     ///< the characters around it, controls as blanks
};

struct KoreanScan {
  std::int64_t characters = 0;                      ///< code points read
  std::int64_t syllables = 0;                       ///< precomposed Hangul syllables among them
  std::array<std::int64_t, kKoreanMarks> counts{};  ///< characters by mark
  std::vector<KoreanPlace> places;                  ///< in order

  [[nodiscard]] std::int64_t count(KoreanMark mark) const { return counts[static_cast<std::size_t>(mark)]; }
  /// Any character of a gated mark.
  [[nodiscard]] bool dirty() const;
  KoreanScan& operator+=(const KoreanScan& other);
};

/// Scans one text. `cut_by_length`: one U+FFFD at the very end is the half of a character that the limit cut, and is
/// not counted. Bytes that are not UTF-8 count as U+FFFD.
[[nodiscard]] KoreanScan scan_korean(std::string_view utf8, bool cut_by_length);

/// Eight fixed requests in Korean, for long answers in running text.
[[nodiscard]] const std::array<std::string_view, 8>& korean_prompts();

}  // namespace bk::gate
