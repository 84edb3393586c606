#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace bk::overlay {

/// What the sources say of one guard. UNKNOWN is never PASS.
enum class Guard {
  kPass,     ///< the pattern stands there as often as it must
  kFail,     ///< the file is there and the pattern is not
  kUnknown,  ///< no such file was found
};
[[nodiscard]] const char* to_string(Guard guard);

/// A pattern and how often it must stand in a file.
struct Requirement {
  const char* what;  ///< in words
  const char*
      pattern;  ///< over the text with every run of blanks and line ends made one blank, blanks beside signs gone
  int at_least;
};

/// One guard rule: which file, and what must stand in it. Source: stkernel-facts, section 2.4.
struct GuardRule {
  const char* id;
  std::vector<std::string> files;  ///< names of the file in the versions that are known
  std::string region;              ///< only functions whose name holds this are searched; empty: the whole file
  std::vector<Requirement> requirements;
};
[[nodiscard]] const std::vector<GuardRule>& guard_rules();

struct Finding {
  std::string rule;
  Guard guard = Guard::kUnknown;
  std::string file;  ///< empty when none was found
  std::string why;
};

/// A file by its name: its path and bytes; nothing when the sources have none.
using FindSource =
    std::function<Result<std::optional<std::pair<std::string, std::string>>>(const std::vector<std::string>& names)>;

/// Every rule over the sources.
[[nodiscard]] Result<std::vector<Finding>> audit(const FindSource& find);

/// One text per rule that satisfies it, and one in which a guard is missing; for the self-test.
struct GuardSample {
  const char* rule;
  std::string file;
  std::string good, broken;
};
[[nodiscard]] std::vector<GuardSample> guard_samples();

/// Runs the rules over guard_samples(): all good must pass, each broken one must fail its rule alone. kInternal.
[[nodiscard]] Status audit_self_test();

}  // namespace bk::overlay
