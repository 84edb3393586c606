#include "gate/answer.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "gate/clause.h"
#include "gate/fold.h"

namespace bk::gate {
namespace {

/// Both characters belong to one word, so a value that begins or ends between them is only a part of it.
bool joined(char32_t inside, char32_t outside) {
  if (!is_alnum(outside)) return false;
  return is_east_asian_letter(outside) == is_east_asian_letter(inside);
}

/// A dash or a decimal point that carries the word on: "k-42-7", "north-east", "8127.5".
bool is_joint(char32_t mark, char32_t inside, char32_t beyond) {
  if (mark == U'-') return joined(inside, beyond) || (is_digit(inside) && is_digit(beyond));
  return mark == U'.' && is_digit(inside) && is_digit(beyond);
}

bool begins_word(const std::u32string& text, std::size_t at) {
  if (at == 0) return true;
  const char32_t before = text[at - 1];
  if (joined(text[at], before)) return false;
  const char32_t beyond = at >= 2 ? text[at - 2] : U' ';
  if (is_joint(before, text[at], beyond)) return false;
  return !(before == U'-' && is_digit(text[at]));  // a negative number
}

bool ends_word(const std::u32string& text, std::size_t end) {
  if (end == text.size()) return true;
  if (joined(text[end - 1], text[end])) return false;
  return end + 1 >= text.size() || !is_joint(text[end], text[end - 1], text[end + 1]);
}

struct Found {
  bool stated = false;
  bool denied = false;
};

Found find_value(const std::u32string& text, const std::u32string& value) {
  Found found;
  if (value.empty()) return found;
  for (std::size_t at = text.find(value); at != std::u32string::npos; at = text.find(value, at + 1)) {
    const std::size_t end = at + value.size();
    if (!begins_word(text, at) || !ends_word(text, end)) continue;
    (is_denied(text, at, end) ? found.denied : found.stated) = true;
  }
  return found;
}

/// "k-42" -> "a-99"; empty for a value without digits or with blanks: those have no shape of their own.
std::u32string shape_of(const std::u32string& value) {
  std::u32string shape;
  bool digits = false;
  for (const char32_t c : value) {
    if (c == U' ') return {};
    digits = digits || is_digit(c);
    shape += is_digit(c) ? U'9' : is_alnum(c) ? U'a' : c;
  }
  return digits ? shape : std::u32string();
}

/// The words of the text, dashes and decimal points inside them kept.
std::vector<std::u32string> whole_words(const std::u32string& text) {
  std::vector<std::u32string> words;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_alnum(text[i]) || !begins_word(text, i)) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    while (!ends_word(text, end)) ++end;
    words.push_back(text.substr(i, end - i));
    i = end;
  }
  return words;
}

class Scorer {
 public:
  Scorer(const std::string& content, const Expected& expected) : text_(fold(without_thinking(content))) {
    for (const std::string& value : expected.accept_all_of) values_.push_back(fold(value));
    for (const std::string& value : expected.rivals) rivals_.push_back(fold(value));
  }

  [[nodiscard]] bool blank() const { return std::none_of(text_.begin(), text_.end(), is_alnum); }

  /// Empty when every value is stated and nothing stands against it.
  [[nodiscard]] std::string fault() const {
    bool absent = false;
    for (const std::u32string& value : values_) {
      const Found found = find_value(text_, value);
      if (found.denied && !found.stated) return "denied";
      absent = absent || !found.stated;
    }
    if (second_candidate()) return absent ? "wrong_value" : "two_candidates";
    return absent ? "value_absent" : "";
  }

 private:
  [[nodiscard]] bool second_candidate() const {
    const auto stated = [this](const std::u32string& value) { return find_value(text_, value).stated; };
    if (std::any_of(rivals_.begin(), rivals_.end(), stated)) return true;
    std::vector<std::u32string> shapes;
    for (const std::u32string& value : values_) {
      if (auto shape = shape_of(value); !shape.empty()) shapes.push_back(std::move(shape));
    }
    for (const std::u32string& word : whole_words(text_)) {
      if (std::find(values_.begin(), values_.end(), word) != values_.end()) continue;
      if (std::find(shapes.begin(), shapes.end(), shape_of(word)) != shapes.end() && stated(word)) return true;
    }
    return false;
  }

  std::u32string text_;
  std::vector<std::u32string> values_, rivals_;
};

}  // namespace

const char* to_string(AnswerVerdict verdict) {
  switch (verdict) {
    case AnswerVerdict::kPass:
      return "pass";
    case AnswerVerdict::kMiss:
      return "miss";
    case AnswerVerdict::kNoAnswer:
      return "no_answer";
  }
  return "no_answer";
}

std::string without_thinking(std::string_view content) {
  std::string text(content);
  for (const std::string tag : {"think", "thinking", "reasoning"}) {
    const std::string open = "<" + tag + ">";
    const std::string close = "</" + tag + ">";
    while (true) {
      const std::size_t end = text.find(close);
      const std::size_t begin = text.find(open);
      if (begin == std::string::npos && end == std::string::npos) break;
      if (end == std::string::npos) {
        text.erase(begin);
      } else {
        const std::size_t from = begin < end ? begin : 0;  // a lone closing mark: all before it was thought
        text.erase(from, end + close.size() - from);
      }
    }
  }
  return text;
}

Scored score_answer(const Answer& answer, const Expected& expected) {
  if (answer.request_failed) return {AnswerVerdict::kNoAnswer, "request_failed"};
  const bool cut = answer.finish_reason == "length";
  const Scorer scorer(answer.content, expected);
  if (scorer.blank()) {
    if (cut) return {AnswerVerdict::kNoAnswer, "cut_by_length"};
    if (answer.content.empty() && !trim(answer.reasoning).empty()) return {AnswerVerdict::kNoAnswer, "reasoning_only"};
    return {AnswerVerdict::kMiss, "empty"};
  }
  std::string fault = scorer.fault();
  if (fault.empty()) return {AnswerVerdict::kPass, ""};
  if (cut && fault == "value_absent") return {AnswerVerdict::kNoAnswer, "cut_by_length"};
  return {AnswerVerdict::kMiss, std::move(fault)};
}

}  // namespace bk::gate
