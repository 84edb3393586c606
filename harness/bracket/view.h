#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "bracket/plan.h"
#include "store/store.h"

namespace bk::bracket {

/// One boot as people look at it.
struct BootView {
  store::BootRow boot;
  std::size_t samples = 0;  ///< measured and good, of the primary cell
  std::size_t failed_samples = 0;
  std::optional<double> median, min, max;  ///< of the primary metric
  std::optional<double> acceptance;        ///< mean raw acceptance, 0..1
  std::vector<store::GateRow> gates;
};

/// Everything that one screen about a bracket shows.
struct View {
  store::BracketSummary summary;
  std::optional<Plan> plan;     ///< nothing for imported brackets and where the stored one is not what its hash says
  std::string family_uid;       ///< of the matrix or sweep that it is a comparison of; empty: of none
  std::vector<BootView> boots;  ///< every attempt, in the order they ran
  std::vector<store::ProofRow> proofs;
  std::vector<store::VerdictRow> verdicts;
  std::vector<store::AssessmentRow> replaced;  ///< assessments before the newest one, oldest first
  Json assessment, historical;                 ///< members of the newest assessment's detail; null when there is none
  int gates_failed = 0;                        ///< of boots that are done
};

/// kUsage when the id names no bracket, or several.
[[nodiscard]] Result<View> load_view(store::Database& database, const std::string& uid_or_prefix);

[[nodiscard]] Json to_json(const View& view);

/// One line: the command or the step that comes next.
[[nodiscard]] std::string what_next(const View& view);

}  // namespace bk::bracket
