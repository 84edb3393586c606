#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "report/number.h"
#include "store/store.h"

namespace bk::ledger {

/// What was asked of a boot, as the page shows it: boots that were asked differently repeat nothing.
struct Asked {
  std::string knobs = report::kMissing, decode = report::kMissing;
};

/// "GATEFUSE=0, SPEC=ngram" of an object, by name; "defaults" where no knob was set, "-" of what is no object.
[[nodiscard]] std::string knobs_text(const Json& knobs);
/// "1024 tokens, t 0" of a decode plan, "up to 256 tokens, t 0.95" where an answer may end before; "-" of anything
/// else.
[[nodiscard]] std::string decode_text(const Json& decode);

/// Of the base boots of a bracket, by its plan. Neither is known of an imported one.
[[nodiscard]] Result<Asked> asked_of(store::Database& database, const store::BracketRow& bracket);
/// Of each boot outside any bracket, by its own row and its decode leg.
[[nodiscard]] Result<std::map<store::RowId, Asked>> asked_of(store::Database& database,
                                                             const std::vector<store::BootRow>& lone_boots);

}  // namespace bk::ledger
