#pragma once
#include <optional>
#include <string>

#include "bracket/remake.h"
#include "store/store.h"

namespace bk::bracket {

/// What comes of making a bracket's newest assessment again from its plan, its samples and the earlier boots that it
/// names.
struct Recheck {
  enum class Finding {
    kAgrees,      ///< every figure, within rounding
    kDiffers,     ///< `text`: the first that does not: "state is 'better', by the samples 'worse'"
    kNotJudged,   ///< `text`: why it cannot be made again: "made by rule version 1, this program has 2"
    kNothingToDo  ///< imported, a baseline, or not at its end: there is no assessment to make
  };
  Finding finding = Finding::kNothingToDo;
  std::string text;
};

/// Makes assessments again and compares; nothing is written.
class Rechecker {
 public:
  explicit Rechecker(store::Database& database) : database_(database), remaker_(database) {}
  /// Errors: those of reading; a plan that was edited is a difference.
  Result<Recheck> check(const store::BracketSummary& summary);

 private:
  store::Database& database_;
  Remaker remaker_;
};

/// Why an assessment is of another rule than this program's: "made before rules had versions"; empty when it is not.
[[nodiscard]] std::string other_rule(const store::AssessmentRow& assessment);
/// The version of the rule that made it; nothing before rules had versions.
[[nodiscard]] std::optional<std::int64_t> rule_version(const store::AssessmentRow& assessment);

}  // namespace bk::bracket
