#include "trace/groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace bk::trace {
namespace {

constexpr const char* kOtherGroup = "other";

bool any_matches(const std::vector<Pattern>& patterns, std::string_view lower, std::string_view category) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const Pattern& pattern) { return pattern.matches(lower, category); });
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!(line = trim(line)).empty()) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

Result<Kind> step_kind(std::string_view word) {
  if (word == "kernel") return Kind::kKernel;
  if (word == "gpu_annotation") return Kind::kGpuAnnotation;
  if (word == "annotation") return Kind::kAnnotation;
  return fail(Errc::kUsage, fmt::format("a step is a kernel, gpu_annotation or annotation, not '{}'", word));
}

void add_group(Rules& rules, std::string_view name, std::vector<Pattern> patterns) {
  const auto first = std::find_if(rules.groups.begin(), rules.groups.end(),
                                  [&](const Rules::Group& group) { return group.name == name; });
  const auto index = static_cast<std::size_t>(first - rules.groups.begin());
  rules.groups.push_back({std::string(name), std::move(patterns), index});
}

Status add_line(Rules& rules, const std::vector<std::string_view>& words) {
  const std::string_view verb = words.front();
  const std::vector<Pattern> patterns(words.begin() + 1, words.end());
  if (patterns.empty()) return fail(Errc::kUsage, fmt::format("'{}' needs a value", verb));
  if (verb == "group") {
    if (patterns.size() < 2) return fail(Errc::kUsage, "a group needs a name and a pattern");
    add_group(rules, words[1], {patterns.begin() + 1, patterns.end()});
  } else if (verb == "step") {
    if (patterns.size() != 2) return fail(Errc::kUsage, "a step is a kind and one pattern");
    BK_ASSIGN(const Kind kind, step_kind(words[1]));
    rules.steps.push_back({kind, patterns[1]});
  } else if (verb == "ours") {
    rules.ours.insert(rules.ours.end(), patterns.begin(), patterns.end());
  } else if (verb == "allreduce") {
    rules.allreduce.insert(rules.allreduce.end(), patterns.begin(), patterns.end());
  } else if (verb == "forward_end" && patterns.size() == 1) {
    rules.forward_end = std::string(words[1]);
  } else {
    return fail(Errc::kUsage, fmt::format("unknown rule '{}': group, ours, step, allreduce or forward_end", verb));
  }
  return {};
}

}  // namespace

Pattern::Pattern(std::string_view text) : text_(text) {
  std::string lower = to_lower(text);
  std::string_view body = lower;
  category_ = body.starts_with('@');
  at_start_ = body.starts_with('^');
  if (category_ || at_start_) body.remove_prefix(1);
  at_end_ = body.ends_with('$');
  if (at_end_) body.remove_suffix(1);
  for (const std::string_view part : split(body, '*')) parts_.emplace_back(part);
}

bool Pattern::matches(std::string_view lower_name, std::string_view category) const {
  if (category_) return category == parts_.front();
  if (matches_text(lower_name)) return true;
  // An instance of a template is written with its return type.
  constexpr std::string_view kReturnType = "void ";
  return at_start_ && lower_name.starts_with(kReturnType) && matches_text(lower_name.substr(kReturnType.size()));
}

bool Pattern::matches_text(std::string_view lower) const {
  std::size_t at = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::string& part = parts_[i];
    const bool last = i + 1 == parts_.size();
    if (i == 0 && at_start_) {
      if (!lower.starts_with(part)) return false;
      at = part.size();
      if (last && at_end_) return at == lower.size();
    } else if (last && at_end_) {
      return lower.size() >= at + part.size() && lower.ends_with(part);
    } else {
      const std::size_t found = lower.find(part, at);
      if (found == std::string_view::npos) return false;
      at = found + part.size();
    }
  }
  return true;
}

std::size_t Rules::group_of(std::string_view name, std::string_view category) const {
  const std::string lower = to_lower(name), lower_category = to_lower(category);
  for (std::size_t i = 0; i + 1 < groups.size(); ++i) {
    if (any_matches(groups[i].patterns, lower, lower_category)) return groups[i].first;
  }
  return groups.back().first;
}

bool Rules::is_ours(std::string_view name) const { return any_matches(ours, to_lower(name), ""); }

bool Rules::is_allreduce(std::string_view name) const { return any_matches(allreduce, to_lower(name), ""); }

Result<Rules> parse_rules(std::string_view text, const std::string& where) {
  Rules rules;
  int number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    const auto words = words_of(line);
    if (words.empty() || words.front().starts_with('#')) continue;
    auto added = add_line(rules, words);
    if (!added) return fail(added.error().code, added.error().what, fmt::format("{}:{}", where, number));
  }
  add_group(rules, kOtherGroup, {});
  return rules;
}

Result<StepRule> parse_step_rule(std::string_view text) {
  StepRule rule;
  const std::size_t colon = text.find(':');
  const std::string_view head = text.substr(0, colon);
  if (colon != std::string_view::npos && (head == "kernel" || head == "gpu_annotation" || head == "annotation")) {
    BK_ASSIGN(rule.kind, step_kind(head));
    text.remove_prefix(colon + 1);
  }
  if (text.empty()) return fail(Errc::kUsage, "an empty step pattern; give a part of a kernel's name", "--step");
  rule.pattern = Pattern(text);
  return rule;
}

}  // namespace bk::trace
