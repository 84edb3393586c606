#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/exchange.h"

namespace bk::ledger {

/// The older ledger's rows (tab-separated; the first line names the 13 columns) as brackets with a verdict each: what a
/// row said stands whole in imported_json, its word in original_word. The same row always gets the same uid.
/// @param file  name for the source column.
/// kUsage with "FILE:LINE": another header, a row of another length, a date or a verdict word that is none.
[[nodiscard]] Result<std::vector<store::TravelRow>> parse_facts(std::string_view text, const std::string& file);

/// The acceptance text of a row with its convention said: raw stays; legacy is converted, raw = legacy · (k + 1) / 2k,
/// for the k = 5 of the lane that wrote it; what mixes both is left and labelled. "" for none.
[[nodiscard]] std::string acceptance_label(const std::string& text);

}  // namespace bk::ledger
