#include "load/prompts.h"

#include <fmt/core.h>

#include <array>
#include <cmath>

#include "base/clock.h"

namespace bk::load {
namespace {

constexpr std::array<std::string_view, 20> kKorean = {
    "태양광", "인버터", "모듈", "발전량", "배터리", "전력망", "일사량", "접속반", "변압기", "구조물",
    "전류",   "전압",   "효율", "음영",   "계통",   "출력",   "패널",   "온도",   "점검",   "케이블"};
constexpr std::array<std::string_view, 20> kEnglish = {
    "river",  "lantern", "copper", "meadow", "engine", "harbor", "pebble", "window", "thunder", "garden",
    "bridge", "silver",  "forest", "market", "island", "winter", "button", "candle", "orchard", "valley"};
constexpr std::array<std::string_view, 10> kTopics = {"가정용 태양광 설비의 손익 분기 계산",
                                                      "배터리 저장 장치의 수명을 늘리는 운전 방법",
                                                      "풍력과 태양광을 함께 쓰는 마을의 전력 계획",
                                                      "여름철 전력 수요를 줄이는 건물 설계",
                                                      "전기차 충전소의 부하를 고르게 나누는 방법",
                                                      "수소 연료 전지의 원리와 한계",
                                                      "송전망 혼잡을 푸는 세 가지 방안",
                                                      "지열 난방을 도입하는 학교의 예산",
                                                      "양수 발전소가 계통을 안정시키는 과정",
                                                      "농촌의 영농형 태양광이 수확에 주는 영향"};

std::vector<std::string_view> first(const std::array<std::string_view, 20>& words, std::size_t count) {
  return {words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

const std::vector<std::string_view>& words_of(Vocabulary vocabulary) {
  static const std::vector<std::string_view> korean = first(kKorean, 20);
  static const std::vector<std::string_view> english20 = first(kEnglish, 20);
  static const std::vector<std::string_view> english14 = first(kEnglish, 14);
  static const std::vector<std::string_view> english12 = first(kEnglish, 12);
  switch (vocabulary) {
    case Vocabulary::kKorean20:
      return korean;
    case Vocabulary::kEnglish14:
      return english14;
    case Vocabulary::kEnglish12:
      return english12;
    case Vocabulary::kEnglish20:
      break;
  }
  return english20;
}

std::string filler(Vocabulary vocabulary, std::int64_t count, Random& random) {
  const auto& words = words_of(vocabulary);
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) {
    if (i > 0) text += ' ';
    text += words[random.below(words.size())];
  }
  return text;
}

std::int64_t words_for_tokens(std::int64_t tokens) {
  return static_cast<std::int64_t>(std::floor(static_cast<double>(tokens) / 1.3));
}

std::uint64_t seed_or_new(std::uint64_t given) { return given != 0 ? given : static_cast<std::uint64_t>(wall_now()); }

std::string nonce(std::uint64_t seed) {
  Random random(seed ^ 0x6e6f6e63655f6964ULL);
  const std::uint64_t bits = random.next();
  return fmt::format("[ref {:08x}-{:08x}] ", bits >> 32, bits & 0xffffffffU);
}

std::string decode_prompt(std::uint64_t seed) {
  Random random(seed);
  const std::string_view topic = kTopics[random.below(kTopics.size())];
  return fmt::format("[참조 번호 {}] {}에 대해 배경, 방법, 예시, 주의점을 차례로 자세히 설명해 주세요.", seed, topic);
}

std::string prefill_prompt(Vocabulary vocabulary, std::int64_t words, std::uint64_t seed) {
  Random random(seed);
  const char* end =
      vocabulary == Vocabulary::kKorean20 ? "\n[끝] 한 단어로만 답하세요." : "\n[end] Answer with one word.";
  return nonce(seed) + filler(vocabulary, words, random) + end;
}

}  // namespace bk::load
