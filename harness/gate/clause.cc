#include "gate/clause.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "gate/fold.h"

namespace bk::gate {
namespace {

using Words = std::vector<std::u32string>;

constexpr std::size_t kWordsBefore = 6;

bool is_clause_mark(char32_t c) { return std::u32string_view(U",;:!?()\n—―。、").find(c) != std::u32string_view::npos; }

/// A full stop ends a clause unless it stands inside a number or a name ("8127.5", "v1.2").
bool is_break(const std::u32string& text, std::size_t i) {
  if (text[i] != U'.') return is_clause_mark(text[i]);
  return i + 1 >= text.size() || !is_alnum(text[i + 1]);
}

Words words_of(const std::u32string& text, std::size_t begin, std::size_t end) {
  Words words;
  std::u32string word;
  for (std::size_t i = begin; i < end; ++i) {
    if (is_alnum(text[i]) || text[i] == U'\'' || text[i] == U'-') {
      word += text[i];
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

template <std::size_t N>
bool is_one_of(const std::u32string& word, const std::array<std::u32string_view, N>& list) {
  return std::find(list.begin(), list.end(), std::u32string_view(word)) != list.end();
}

bool ends_with(const std::u32string& word, std::u32string_view ending) {
  return word.size() >= ending.size() && std::u32string_view(word).substr(word.size() - ending.size()) == ending;
}

bool opens_clause(const std::u32string& word) {
  static constexpr std::array<std::u32string_view, 6> kWords = {U"but", U"and", U"yet", U"so", U"though", U"however"};
  return is_one_of(word, kWords);
}

bool negates(const Words& words, std::size_t i) {
  static constexpr std::array<std::u32string_view, 8> kWords = {U"not",     U"never",  U"cannot", U"neither",
                                                                U"without", U"except", U"unlike", U"nor"};
  const std::u32string next = i + 1 < words.size() ? words[i + 1] : U"";
  if (words[i] == U"not" && (next == U"only" || next == U"just")) return false;
  if ((words[i] == U"rather" || words[i] == U"other") && next == U"than") return true;
  if (words[i] == U"instead" && next == U"of") return true;
  return is_one_of(words[i], kWords) || ends_with(words[i], U"n't");
}

bool denied_before(const Words& words) {
  for (std::size_t back = 1; back <= std::min(kWordsBefore, words.size()); ++back) {
    const std::size_t i = words.size() - back;
    if (negates(words, i)) return true;
    if (opens_clause(words[i])) return false;
  }
  return false;
}

bool denied_after(const Words& words) {
  static constexpr std::array<std::u32string_view, 4> kKorean = {U"아니", U"아닌", U"아닙", U"않"};
  static constexpr std::array<std::u32string_view, 4> kFalse = {U"not", U"wrong", U"incorrect", U"false"};
  for (std::size_t i = 0; i < std::min<std::size_t>(2, words.size()); ++i) {
    for (const std::u32string_view stem : kKorean) {
      if (words[i].find(stem) != std::u32string::npos) return true;
    }
  }
  if (words.empty()) return false;
  if (words[0] == U"isn't" || words[0] == U"wasn't") return true;
  const bool verb = words[0] == U"is" || words[0] == U"was";
  if (!verb || words.size() < 2 || !is_one_of(words[1], kFalse)) return false;
  return words.size() < 3 || (words[2] != U"only" && words[2] != U"just");
}

}  // namespace

bool is_denied(const std::u32string& folded, std::size_t begin, std::size_t end) {
  std::size_t first = begin;
  while (first > 0 && !is_break(folded, first - 1)) --first;
  std::size_t last = end;
  while (last < folded.size() && !is_break(folded, last)) ++last;
  return denied_before(words_of(folded, first, begin)) || denied_after(words_of(folded, end, last));
}

}  // namespace bk::gate
