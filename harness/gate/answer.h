#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace bk::gate {

/// A reply as the gate sees it.
struct Answer {
  std::string content;          ///< empty when the server sent null or none
  std::string reasoning;        ///< never scored; says whether an empty reply was cut while thinking
  std::string finish_reason;    ///< "stop", "length" …
  bool request_failed = false;  ///< no reply to score
};

/// What a right answer holds.
struct Expected {
  std::vector<std::string> accept_all_of;  ///< every one of these values, in any order
  std::vector<std::string> rivals;         ///< values of the same kind that would be a second candidate ("south")
};

enum class AnswerVerdict { kPass, kMiss, kNoAnswer };
const char* to_string(AnswerVerdict verdict);  ///< "pass", "miss", "no_answer"

struct Scored {
  AnswerVerdict verdict = AnswerVerdict::kNoAnswer;
  std::string reason;  ///< snake_case: "value_absent", "denied", "two_candidates", "empty", "cut_by_length",
                       ///< "reasoning_only", "request_failed"; empty for a pass
};

/// Scores a reply by value. The rules:
///  - text inside think marks is no part of the answer (nor what stands before a lone closing mark);
///  - case, compatibility forms, dash forms, thousands separators and ordinal endings (14th) are folded away;
///  - a value matches as a whole word: 8127 is not in 81270, 18127, 8127.5 or -8127, north not in northeast or
///    north-east; Hangul, kana or Han directly after a Latin word or a number does not belong to it (8127입니다);
///  - a denied value ("not 8127", "8127 is wrong", "8127이 아니다", within one clause) does not match;
///  - another value of the same shape (digits and letters in the same places), or a rival, that is not denied makes two
///    candidates: a miss;
///  - a reply cut by length that holds no such value is no answer; so is one of reasoning alone, and a failed request.
[[nodiscard]] Scored score_answer(const Answer& answer, const Expected& expected);

/// `content` without <think>…</think> (and <thinking>, <reasoning>) blocks; an open one runs to the end.
[[nodiscard]] std::string without_thinking(std::string_view content);

}  // namespace bk::gate
