#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bk::ledger {

/// A word of the older ledger and the verdict that it becomes; the original word is kept beside it.
struct VerdictWord {
  const char* original;
  const char* verdict;
  const char* because;
};

/// Every word that is known, in the order in which `ledger import --help` lists them.
[[nodiscard]] const std::vector<VerdictWord>& verdict_words();
/// The verdict that a word becomes; nothing when it is unknown.
[[nodiscard]] std::optional<std::string> verdict_of(std::string_view original);

}  // namespace bk::ledger
