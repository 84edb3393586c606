#pragma once
#include <functional>
#include <string>

#include "store/store.h"

namespace bk::bracket {

/// One bracket whose newest assessment is of another rule than this program's.
struct Reassessed {
  store::BracketSummary before;             ///< with the assessment that stood
  std::optional<store::AssessmentRow> now;  ///< nothing: it stays as it is
  std::string why_not;                      ///< why it stays
  /// Whether a verdict was signed against another state than the one that it has now.
  [[nodiscard]] bool is_outdated() const {
    return now && !before.signed_state.empty() && now->state != before.signed_state;
  }
};

/// Makes every assessment of another rule again, bracket by bracket, and puts it before the one that stood, which
/// stays. Verdicts are left as they are. Each is one transaction: what was done stays done when the program ends in the
/// middle, and a second run, at the same time or later, does the rest.
/// @param write  false: nothing is stored.  @param tell  after each bracket.
[[nodiscard]] Status reassess(store::Database& database, bool write,
                              const std::function<void(const Reassessed&)>& tell);

}  // namespace bk::bracket
