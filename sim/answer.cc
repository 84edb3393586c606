#include "answer.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"

namespace bk::sim {
namespace {

struct Piece {
  std::string_view text;
  std::set<std::string> words;  // lower case, four letters or more, or with a digit
};

bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}

template <class Visit>
void for_each_word(std::string_view text, Visit visit) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && is_word_byte(text[i])) continue;
    if (i > begin) visit(text.substr(begin, i - begin));
    begin = i + 1;
  }
}

bool counts(std::string_view word) {
  static const std::set<std::string, std::less<>> stop = {
      "what",   "which", "where",  "when", "that", "this", "with",  "from",  "does", "have",  "your", "about",
      "answer", "only",  "please", "the",  "list", "into", "their", "there", "each", "three", "give", "were"};
  if (word.size() < 4) return word.find_first_of("0123456789") != std::string_view::npos;
  return stop.find(to_lower(word)) == stop.end();
}

// Sentence ends: a line end, or . ! ? before a blank or the end.
std::vector<std::string_view> sentences_of(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  const auto push = [&](std::size_t end) {
    const auto piece = trim(text.substr(begin, end - begin));
    if (!piece.empty()) out.push_back(piece);
    begin = end;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool stop = text[i] == '.' || text[i] == '!' || text[i] == '?';
    if (text[i] == '\n' || (stop && (i + 1 == text.size() || text[i + 1] == ' ' || text[i + 1] == '\n'))) push(i + 1);
  }
  push(text.size());
  return out;
}

std::size_t word_count(std::string_view text) {
  std::size_t n = 0;
  for_each_word(text, [&](std::string_view) { ++n; });
  return n;
}

}  // namespace

std::string_view question_in(std::string_view message) {
  const auto lines = split_lines(trim(message));
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    std::string_view first, last;
    for (const std::string_view part : sentences_of(*line)) {
      if (!part.ends_with('?')) continue;
      if (first.empty()) first = part;
      last = part;
    }
    if (first.empty()) continue;
    return {first.data(), static_cast<std::size_t>(last.data() + last.size() - first.data())};
  }
  if (sentences_of(message).size() < 2) return {};
  const std::string_view last = trim(lines.back());
  return word_count(last) <= 60 ? last : std::string_view();
}

std::vector<std::string> find_answer(std::string_view document, std::string_view question) {
  constexpr std::size_t kLongestSentence = 60;
  constexpr int kRare = 12;  // filler words come far more often than this in any document worth searching
  std::set<std::string> asked;
  for_each_word(question, [&](std::string_view w) {
    if (counts(w)) asked.insert(to_lower(w));
  });
  if (asked.empty()) return {};
  std::map<std::string, int> frequency;
  for_each_word(document, [&](std::string_view w) {
    if (!counts(w)) return;
    const std::string lower = to_lower(w);
    if (asked.count(lower) != 0) ++frequency[lower];
  });
  std::vector<std::pair<double, std::string_view>> scored;
  double best = 0;
  for (const std::string_view text : sentences_of(document)) {
    if (text.size() > 600 || word_count(text) > kLongestSentence || text.ends_with('?') ||
        question.find(text) != std::string_view::npos)
      continue;
    std::set<std::string> shared;
    for_each_word(text, [&](std::string_view w) {
      const std::string lower = to_lower(w);
      if (asked.count(lower) != 0 && frequency[lower] <= kRare) shared.insert(lower);
    });
    if (shared.size() < 2) continue;
    double score = 0;
    for (const std::string& word : shared) score += 1.0 / frequency[word];
    best = std::max(best, score);
    scored.emplace_back(score, text);
  }
  std::vector<std::string> out;
  for (const auto& [score, text] : scored) {
    if (score >= 0.45 * best) out.emplace_back(text);
  }
  return out;
}

std::string shallow_view(std::string_view document) {
  constexpr std::size_t kWhole = 24000, kHead = 4000, kTail = 4000;
  if (document.size() <= kWhole) return std::string(document);
  return std::string(document.substr(0, kHead)) + "\n" + std::string(document.substr(document.size() - kTail));
}

AnswerTokens::AnswerTokens(const Tokenizer& tokenizer, AnswerPlan plan)
    : tokenizer_(tokenizer), plan_(std::move(plan)) {
  append(plan_.reasoning, true);
  if (plan_.fixed) append(*plan_.fixed, false);
  natural_ = static_cast<std::int64_t>(tokens_.size()) + (plan_.fixed ? 0 : plan_.prose_tokens);
}

AnswerToken AnswerTokens::next() {
  while (taken_ == tokens_.size()) extend();
  return tokens_[taken_++];
}

void AnswerTokens::append(std::string_view text, bool reasoning) {
  for (const std::int32_t id : tokenizer_.encode(text)) tokens_.push_back({id, reasoning});
}

void AnswerTokens::extend() {
  std::string text = sentence(plan_.korean, sentences_ == 0 ? plan_.first_seed : plan_.seed, sentences_);
  if (plan_.corrupt && sentences_ == 1) text.insert(text.find(' ') + 1, "\xEF\xBF\xBD");
  if (sentences_ > 0 || plan_.fixed) text.insert(0, " ");
  ++sentences_;
  append(text, false);
}

}  // namespace bk::sim
