#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/result.h"
#include "manifest/parse.h"

namespace bk::manifest {

/// What rows have claimed so far, over one manifest or over all modules of a profile.
class Claims {
 public:
  /// Whether `owner` knows of the other module (names it in its `requires`): it may then pin a file that the other
  /// replaces.
  using Knows = std::function<bool(const std::string& owner, const std::string& other)>;
  explicit Claims(Knows knows) : knows_(std::move(knows)) {}

  /// Claims the row for `owner` ("module poll", or "" inside one manifest). kUsage, naming both owners and rows, when
  /// its source or target is taken, differs from a taken one in case alone, lies below another row's file or above it,
  /// or when a pinned file is replaced by a module that the pinning one does not require.
  [[nodiscard]] Status add(const std::string& owner, const Row& row);

 private:
  struct Claim {
    std::string owner;
    Row row;
  };
  [[nodiscard]] Status add_source(const std::string& owner, const Row& row);
  [[nodiscard]] Status add_target(const std::string& owner, const Row& row);
  [[nodiscard]] Status add_pin(const std::string& owner, const Row& row);
  [[nodiscard]] Status check_pins(const std::string& owner, const Row& row) const;

  Knows knows_;
  std::map<std::string, Claim> sources_;          ///< by lower-case name
  std::map<std::string, Claim> targets_;          ///< by lower-case path; mounted ones
  std::multimap<std::string, Claim> pins_;        ///< by lower-case path; verify-only ones
  std::map<std::string, std::string> parent_of_;  ///< lower-case folder -> a target below it
};

}  // namespace bk::manifest
