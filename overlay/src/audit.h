#pragma once
#include <map>
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
  std::vector<std::string> files;  ///< names of the file in the versions that are known, the newest first
  std::string folder;  ///< a folder above it whose name holds this; empty: any. Other packages use the same names
  std::string region;  ///< only functions whose name holds this are searched; empty: the whole file
  std::vector<Requirement> requirements;
};
[[nodiscard]] const std::vector<GuardRule>& guard_rules();

struct Finding {
  std::string rule;
  Guard guard = Guard::kUnknown;
  std::string file;  ///< empty when none was found
  std::string why;
};

/// Whether a path is one of the rule's file.
[[nodiscard]] bool is_of(const GuardRule& rule, const std::string& path);

/// Sources by path.
using Sources = std::map<std::string, std::string>;

/// Every rule over the sources. Of several copies of a rule's file each has to satisfy it: which one an engine imports
/// is not known here.
[[nodiscard]] std::vector<Finding> audit(const Sources& sources);

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
