#pragma once
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "bracket/history.h"
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

/// Makes assessments again. Reads a profile's earlier boots once, for all of its brackets.
class Rechecker {
 public:
  explicit Rechecker(store::Database& database) : database_(database) {}
  /// Errors: those of reading; a plan that was edited is a difference.
  Result<Recheck> check(const store::BracketSummary& summary);

 private:
  Result<const std::vector<EarlierBoot>*> all_earlier(const Plan& plan);
  Result<Recheck> check_done(const store::BracketSummary& summary, const Plan& plan, const Json& detail);
  Result<Recheck> check_void(const store::BracketSummary& summary, const Plan& plan, const Json& detail);

  store::Database& database_;
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<EarlierBoot>> earlier_;
};

}  // namespace bk::bracket
