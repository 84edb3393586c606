#pragma once
#include <string>
#include <vector>

#include "gate/answer.h"

namespace bk::gate {

enum class Verdict { kPass, kFail, kInconclusive };
const char* to_string(Verdict verdict);  ///< "pass", "fail", "inconclusive"

/// A gate's answers counted. `asked` is the number of questions asked, whether answered or not.
struct Tally {
  int asked = 0, pass = 0, miss = 0, no_answer = 0;

  /// Pass when every question asked passed. Inconclusive when none was asked or one has no answer: a question without
  /// an answer is neither right nor wrong. Fail otherwise.
  [[nodiscard]] Verdict verdict() const;
  /// "7/18".
  [[nodiscard]] std::string score() const;
};

/// Counts verdicts; questions beyond those given count as unanswered.
[[nodiscard]] Tally tally(const std::vector<AnswerVerdict>& verdicts, int asked);

}  // namespace bk::gate
