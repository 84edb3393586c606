#pragma once
#include <list>
#include <map>
#include <string>
#include <vector>

#include "bracket/history.h"

namespace bk::bracket {

/// Earlier boots that an assessment names, read from the database and kept for the next one that names them: brackets
/// of one profile name mostly the same. What is kept is bounded, whatever the database holds.
class EarlierBoots {
 public:
  explicit EarlierBoots(store::Database& database) : database_(database) {}

  /// The history that an assessment was made by: of the boots that it names or, where it is from a version that named
  /// none, of those that had ended when it was made. kUnavailable when some that it names are not here.
  /// @param until  as for base_history()
  [[nodiscard]] Result<BaseHistory> history_of(const store::AssessmentRow& assessment, const Plan& plan,
                                               store::RowId bracket, std::optional<std::int64_t> until = {});

 private:
  struct Kept {
    std::string key;
    EarlierBoot boot;
  };
  Result<const EarlierBoot*> find(const std::string& uid, const Plan& plan);

  store::Database& database_;
  std::list<Kept> kept_;  ///< the latest asked for at the front
  std::map<std::string, std::list<Kept>::iterator> by_key_;
};

}  // namespace bk::bracket
