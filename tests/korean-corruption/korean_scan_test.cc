#include <catch2/catch.hpp>

#include "gate/korean.h"

namespace bk::gate {
namespace {

using Counts = std::array<std::int64_t, kKoreanMarks>;

TEST_CASE("each mark is counted where it stands and nowhere else") {
  struct Row {
    const char* text;
    Counts counts;  // replacement, jamo after syllable, unglossed Han, control, other jamo, glossed Han
  };
  const Row rows[] = {
      {"", {}},
      {"오늘은 맑습니다. 12 kWh, 95 % (대략) - 끝!\n\t\r\n", {}},
      {"태\xEF\xBF\xBD양광", {1, 0, 0, 0, 0, 0}},
      {"태\xED\x95양", {1, 0, 0, 0, 0, 0}},            // a broken byte sequence
      {"가ㅏ", {0, 1, 0, 0, 0, 0}},                    // compatibility jamo
      {"가\xE1\x86\xA8", {0, 1, 0, 0, 0, 0}},          // conjoining jamo U+11A8
      {"ㅋㅋ", {0, 0, 0, 0, 2, 0}},                    // none after a syllable
      {"하하ㅋㅋ", {0, 1, 0, 0, 1, 0}},                // only the first follows a syllable
      {"자음 ㄱ", {0, 0, 0, 0, 1, 0}},                 // a blank between
      {"전력은的確한 값", {0, 0, 2, 0, 0, 0}},         // Han in the middle of text
      {"太陽은 밝다", {0, 0, 2, 0, 0, 0}},             // at the beginning
      {"태양(太陽)은", {0, 0, 0, 0, 0, 2}},            // glossed by bracket
      {"태양 （太陽）은", {0, 0, 0, 0, 0, 2}},         // wide bracket, blank before
      {"태양: 太陽", {0, 0, 0, 0, 0, 2}},              // colon
      {"태양 - 太陽", {0, 0, 0, 0, 0, 2}},             // dash
      {"태양, 太", {0, 0, 0, 0, 0, 1}},                // comma
      {"sun(太陽)", {0, 0, 2, 0, 0, 0}},               // no Hangul before the bracket
      {"태양.太陽", {0, 0, 2, 0, 0, 0}},               // a full stop introduces nothing
      {"가\x01나\x7F다\xC2\x85", {0, 0, 0, 3, 0, 0}},  // C0, DEL, C1
      {"かな café 🙂 𠀀", {0, 0, 1, 0, 0, 0}},  // kana and accents are sound; U+20000 is Han
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const KoreanScan scan = scan_korean(row.text, false);
    CHECK(scan.counts == row.counts);
    const bool gated = row.counts[0] + row.counts[1] + row.counts[2] + row.counts[3] > 0;
    CHECK(scan.dirty() == gated);
  }
}

TEST_CASE("half a character at a length limit is forgiven once, at the very end alone") {
  CHECK_FALSE(scan_korean("태양\xEF\xBF\xBD", true).dirty());
  CHECK(scan_korean("태양\xEF\xBF\xBD", false).dirty());
  CHECK(scan_korean("태양\xEF\xBF\xBD\xEF\xBF\xBD", true).count(KoreanMark::kReplacement) == 1);
  CHECK(scan_korean("\xEF\xBF\xBD태양", true).dirty());
  CHECK(scan_korean("태양\xEF\xBF\xBD", true).characters == 2);
}

TEST_CASE("a run of Han is one place with its context; scans add up") {
  KoreanScan scan = scan_korean("전력은的確한\x02값", false);
  REQUIRE(scan.places.size() == 2);
  CHECK(scan.places[0].characters == "U+7684 U+78BA");
  CHECK(scan.places[0].at == 3);
  CHECK(scan.places[0].context == "전력은的確한 값");
  CHECK(scan.places[1].characters == "U+0002");
  CHECK(scan.syllables == 5);
  scan += scan_korean("가\xEF\xBF\xBD", false);
  CHECK(scan.characters == 10);
  CHECK(scan.counts == Counts{1, 0, 2, 1, 0, 0});
  CHECK(scan.places.size() == 3);
}

TEST_CASE("the prompts are sound Korean themselves, and differ") {
  for (const std::string_view prompt : korean_prompts()) {
    CHECK_FALSE(scan_korean(prompt, false).dirty());
    CHECK(scan_korean(prompt, false).syllables > 15);
    CHECK(std::count(korean_prompts().begin(), korean_prompts().end(), prompt) == 1);
  }
}

}  // namespace
}  // namespace bk::gate
