#pragma once
#include <map>
#include <optional>
#include <string>

#include "bracket/earlier_boots.h"
#include "bracket/family_judge.h"
#include "store/store.h"

namespace bk::bracket {

/// A bracket's assessment as this program's rule makes it now.
struct Remade {
  std::optional<store::AssessmentRow> row;
  std::string why_not;     ///< why there is no row; empty with no row: nothing was to be assessed
  bool is_damage = false;  ///< why_not is something that the database should not say: "the stored plan is not …"
};

/// Makes assessments again from the plan, the samples and the earlier boots that the newest assessment names; of a
/// matrix or sweep from the boots of all its arms. A few boots and one family are kept from one bracket to the next, so
/// that brackets in the order of lists are read about once.
class Remaker {
 public:
  explicit Remaker(store::Database& database) : database_(database), earlier_(database) {}
  /// Errors: those of reading.
  Result<Remade> remake(const store::BracketSummary& summary);

 private:
  /// A family's members, made again together.
  struct FamilyRemade {
    store::RowId whole = 0;
    Remade otherwise;                                   ///< of a member without a row
    std::map<store::RowId, store::AssessmentRow> rows;  ///< by bracket
  };
  Result<Remade> remake_done(const store::BracketSummary& summary, const Plan& plan);
  Result<Remade> remake_void(const store::BracketSummary& summary, const Plan& plan);
  Result<Remade> remake_member(const store::BracketSummary& summary);
  Result<std::map<store::RowId, store::AssessmentRow>> all_of_family(const store::BracketRow& whole);

  store::Database& database_;
  EarlierBoots earlier_;
  FamilyRemade family_;  ///< the latest
};

}  // namespace bk::bracket
