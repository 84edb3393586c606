#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bracket/view.h"

namespace bk::bracket {

/// One arm of a matrix or sweep as people look at it.
struct FamilyArmView {
  std::string name;                  ///< "base", "GATEFUSE=1"
  store::BracketSummary summary;     ///< of the comparison; of the base that of the whole
  std::vector<BootView> boots;       ///< its own, every attempt
  std::optional<double> median;      ///< of the medians of its boots that are done
  std::optional<double> acceptance;  ///< mean over these boots, 0..1
  int boots_done = 0, gates_passed = 0, gates_asked = 0;
  Json assessment;  ///< of the comparison; null for the base and before any
};

/// Everything that one screen about a matrix or sweep shows.
struct FamilyView {
  store::BracketSummary summary;
  Plan plan;                        ///< of the whole
  std::vector<FamilyArmView> arms;  ///< the base first
  std::vector<Json> interactions;   ///< answers to these questions, see to_json(FamilyAnswer)
  Json peak;                        ///< of a sweep that is done; else null
  std::vector<std::string> order;   ///< arms of the boots that have begun, by their place in time
};

/// @param whole  of a bracket whose plan is_family().
[[nodiscard]] Result<FamilyView> load_family_view(store::Database& database, const View& whole);

[[nodiscard]] Json to_json(const FamilyView& view);

/// One line: the command or the step that comes next.
[[nodiscard]] std::string what_next(const FamilyView& view);

}  // namespace bk::bracket
