#include <fmt/format.h>

#include <array>

#include "answer.h"
#include "physics/random.h"

namespace bk::sim {
namespace {

constexpr std::array<const char*, 24> kThings = {
    "the tide",       "a slow river",   "the harbor",  "the old engine", "a quiet forest", "the market",
    "the machine",    "a distant star", "the garden",  "the record",     "a good plan",    "the wind",
    "the power grid", "the village",    "a long road", "the mountain",   "the ocean",      "the teacher",
    "a new idea",     "the battery",    "the season",  "the weather",    "the system",     "the path"};
constexpr std::array<const char*, 16> kDeeds = {"follows",  "changes",  "supports",  "measures", "carries", "shapes",
                                                "reaches",  "explains", "prepares",  "divides",  "crosses", "protects",
                                                "compares", "reveals",  "describes", "controls"};
constexpr std::array<const char*, 16> kEndings = {
    "in the early morning", "without any noise", "for a long time",   "as the season turns",
    "with great care",      "before the winter", "across the valley", "when the moon rises",
    "after a short rest",   "at a steady rate",  "near the coast",    "under a clear sky",
    "for most people",      "in a simple way",   "through the night", "once more"};
constexpr std::array<const char*, 16> kThemesKo = {
    "태양광 발전은", "전력망은", "에너지 저장 장치는", "지역 사회는", "새로운 기술은", "바람은",   "우리 마을은",
    "인버터는",      "배터리는", "맑은 날에는",        "연구팀은",    "효율은",        "발전소는", "전기 요금은",
    "구름은",        "햇빛은"};
constexpr std::array<const char*, 12> kWaysKo = {"조금씩", "꾸준히",   "안정적으로", "빠르게",
                                                 "해마다", "아침마다", "효과적으로", "자연스럽게",
                                                 "천천히", "계절마다", "눈에 띄게",  "지속적으로"};
constexpr std::array<const char*, 12> kEndsKo = {
    "늘어나고 있습니다.",    "변화를 만듭니다.", "도움이 됩니다.",      "중요한 역할을 합니다.",
    "성장하고 있습니다.",    "균형을 이룹니다.", "비용을 줄여 줍니다.", "새로운 길을 엽니다.",
    "사람들을 이어 줍니다.", "계속 발전합니다.", "좋은 결과를 냅니다.", "미래를 준비합니다."};

template <std::size_t N>
const char* pick(const std::array<const char*, N>& list, std::uint64_t seed, std::uint64_t index, std::uint64_t slot) {
  return list[physics::mix({seed, index, slot}) % N];
}

}  // namespace

std::string sentence(bool korean, std::uint64_t seed, std::uint64_t index) {
  if (korean) {
    return fmt::format("{} {} {}", pick(kThemesKo, seed, index, 1), pick(kWaysKo, seed, index, 2),
                       pick(kEndsKo, seed, index, 3));
  }
  std::string text = fmt::format("{} {} {} {}.", pick(kThings, seed, index, 1), pick(kDeeds, seed, index, 2),
                                 pick(kThings, seed, index, 3), pick(kEndings, seed, index, 4));
  text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

bool has_hangul(std::string_view text) {
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead >= 0xEB && lead <= 0xEC) return true;  // U+B000..U+CFFF: precomposed syllables alone
  }
  return false;
}

}  // namespace bk::sim
