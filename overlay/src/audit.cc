#include "audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>

#include "base/text.h"

namespace bk::overlay {
namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Blanks between two names stay as one, all others go, and so do comments of Python and C++ to the line's end: a guard
/// that is commented out guards nothing.
std::string squeezed(const std::string& text) {
  std::string out;
  for (const std::string_view whole : split_lines(text)) {
    std::string_view line = whole.substr(0, whole.find("//"));
    const std::size_t hash = line.find('#');
    if (hash != std::string_view::npos && !trim(line).starts_with("#define") && !trim(line).starts_with("#if")) {
      line = line.substr(0, hash);
    }
    bool blank = true;
    for (const char c : line) {
      if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        blank = true;
        continue;
      }
      if (blank && !out.empty() && is_name(out.back()) && is_name(c)) out += ' ';
      out += c;
      blank = false;
    }
  }
  return out;
}

/// The Python functions whose name holds `part`, from their def to the next one; the whole text when `part` is empty.
std::string region_of(const std::string& text, const std::string& part) {
  if (part.empty()) return text;
  std::string out;
  bool inside = false;
  for (const std::string_view line : split_lines(text)) {
    const std::string_view bare = trim(line);
    if (bare.starts_with("def ")) inside = bare.substr(4, bare.find('(') - 4).find(part) != std::string_view::npos;
    if (inside) out.append(line).append("\n");
  }
  return out;
}

int count_of(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  return static_cast<int>(std::distance(std::sregex_iterator(text.begin(), text.end(), regex), std::sregex_iterator()));
}

Finding judge(const GuardRule& rule, const std::string& path, const std::string& bytes) {
  const std::string text = squeezed(region_of(bytes, rule.region));
  for (const Requirement& requirement : rule.requirements) {
    const int found = count_of(text, requirement.pattern);
    if (found >= requirement.at_least) continue;
    return {rule.id, Guard::kFail, path,
            fmt::format("{}: found {}, must be {} or more", requirement.what, found, requirement.at_least)};
  }
  return {rule.id, Guard::kPass, path, "every guard stands there"};
}

}  // namespace

const char* to_string(Guard guard) {
  switch (guard) {
    case Guard::kPass:
      return "PASS";
    case Guard::kFail:
      return "FAIL";
    case Guard::kUnknown:
      return "UNKNOWN";
  }
  return "UNKNOWN";
}

Result<std::vector<Finding>> audit(const FindSource& find) {
  std::vector<Finding> findings;
  for (const GuardRule& rule : guard_rules()) {
    BK_ASSIGN(const auto source, find(rule.files));
    if (source) {
      findings.push_back(judge(rule, source->first, source->second));
    } else {
      findings.push_back({rule.id, Guard::kUnknown, "", "no file is called " + join(rule.files, " or ")});
    }
  }
  return findings;
}

Status audit_self_test() {
  const auto samples = guard_samples();
  for (std::size_t broken = 0; broken <= samples.size(); ++broken) {
    // The last round breaks nothing.
    const auto find =
        [&](const std::vector<std::string>& names) -> Result<std::optional<std::pair<std::string, std::string>>> {
      std::string text;
      for (std::size_t i = 0; i < samples.size(); ++i) {
        if (samples[i].file == names.front()) text += i == broken ? samples[i].broken : samples[i].good;
      }
      return std::optional(std::pair(names.front(), text));
    };
    BK_ASSIGN(const auto findings, audit(find));
    for (const Finding& finding : findings) {
      const bool must_fail = broken < samples.size() && finding.rule == samples[broken].rule;
      if ((finding.guard == Guard::kFail) == must_fail && finding.guard != Guard::kUnknown) continue;
      return fail(Errc::kInternal,
                  fmt::format("self-test: {} is {}: {}", finding.rule, to_string(finding.guard), finding.why));
    }
  }
  return {};
}

}  // namespace bk::overlay
