#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bk::trace {

/// What kind of event a trace line is, by its category.
enum class Kind : unsigned char {
  kKernel,         ///< category contains "kernel"
  kMemop,          ///< gpu_memcpy, gpu_memset
  kGpuAnnotation,  ///< gpu_user_annotation: a range on the device's clock
  kAnnotation,     ///< user_annotation: a range on the host
  kOther,
};

/// One word of a rules file: `^start` (also after "void "), `end$`, `any*where`, or `@category`.
class Pattern {
 public:
  explicit Pattern(std::string_view text);
  /// `lower_name` is lower-cased already.
  [[nodiscard]] bool matches(std::string_view lower_name, std::string_view category) const;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  [[nodiscard]] bool matches_text(std::string_view lower) const;

  std::string text_;
  std::vector<std::string> parts_;  ///< between the stars
  bool at_start_ = false, at_end_ = false, category_ = false;
};

struct StepRule {
  Kind kind = Kind::kKernel;
  Pattern pattern{""};
};

/// How names are read: groups, own kernels, what happens once a step.
struct Rules {
  struct Group {
    std::string name;
    std::vector<Pattern> patterns;
    std::size_t first = 0;  ///< index of the first group of this name, under which its kernels are counted
  };
  std::vector<Group> groups;  ///< the last is "other" and matches everything
  std::vector<Pattern> ours;
  std::vector<StepRule> steps;  ///< in order of preference
  std::vector<Pattern> allreduce;
  std::string forward_end = "moe";  ///< name of the group that ends a forward pass

  /// Index into `groups`; of groups with the same name, always the first.
  [[nodiscard]] std::size_t group_of(std::string_view name, std::string_view category) const;
  [[nodiscard]] bool is_ours(std::string_view name) const;
  [[nodiscard]] bool is_allreduce(std::string_view name) const;
};

/// The text of kernels/trace_groups.conf and harness/trace/groups.conf.
[[nodiscard]] const char* default_rules_text();
/// Rules of a file's text; `where` names it in errors. kUsage with the line that cannot be read.
[[nodiscard]] Result<Rules> parse_rules(std::string_view text, const std::string& where);
/// "kernel:PATTERN", "gpu_annotation:PATTERN", "annotation:PATTERN", or a kernel PATTERN alone. kUsage otherwise.
[[nodiscard]] Result<StepRule> parse_step_rule(std::string_view text);

}  // namespace bk::trace
