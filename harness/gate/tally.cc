#include "gate/tally.h"

#include <algorithm>

namespace bk::gate {

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kFail:
      return "fail";
    case Verdict::kInconclusive:
      return "inconclusive";
  }
  return "inconclusive";
}

Verdict Tally::verdict() const {
  if (asked == 0 || no_answer > 0) return Verdict::kInconclusive;
  return pass == asked ? Verdict::kPass : Verdict::kFail;
}

std::string Tally::score() const { return std::to_string(pass) + "/" + std::to_string(asked); }

Tally tally(const std::vector<AnswerVerdict>& verdicts, int asked) {
  const auto count = [&verdicts](AnswerVerdict verdict) {
    return static_cast<int>(std::count(verdicts.begin(), verdicts.end(), verdict));
  };
  const int given = static_cast<int>(verdicts.size());
  Tally result;
  result.asked = std::max(asked, given);
  result.pass = count(AnswerVerdict::kPass);
  result.miss = count(AnswerVerdict::kMiss);
  result.no_answer = count(AnswerVerdict::kNoAnswer) + result.asked - given;
  return result;
}

}  // namespace bk::gate
