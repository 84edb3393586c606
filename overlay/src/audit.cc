#include "audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>

#include "base/text.h"

namespace bk::overlay {
namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_python(const std::string& path) { return path.ends_with(".py"); }

/// Python without comments and without what stands in triple quotes. A '#' within other quotes cuts its line too: that
/// can hide a guard, never make one.
std::string python_code(const std::string& text) {
  std::string out;
  std::string_view quotes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i);
    if (!quotes.empty()) {
      if (rest.starts_with(quotes)) {
        quotes = {};
        i += 2;
      }
      continue;
    }
    if (rest.starts_with("\"\"\"") || rest.starts_with("\'\'\'")) {
      quotes = rest.front() == '"' ? "\"\"\"" : "\'\'\'";
      i += 2;
    } else if (rest.front() == '#') {
      i += std::min(rest.find('\n'), rest.size()) - 1;
    } else {
      out += rest.front();
    }
  }
  return out;
}

/// C++ without comments and without what stands between #if 0 and its #else or #endif.
std::string cpp_code(const std::string& text) {
  std::string bare;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i);
    if (rest.starts_with("//")) {
      i += std::min(rest.find('\n'), rest.size()) - 1;
    } else if (rest.starts_with("/*")) {
      i += std::min(rest.find("*/", 2), rest.size() - 2) + 1;
      bare += ' ';
    } else {
      bare += rest.front();
    }
  }
  std::string out;
  int depth = 0;  // of conditions within #if 0, itself counted
  for (const std::string_view line : split_lines(bare)) {
    const std::string_view word = trim(line);
    if (depth == 0) {
      depth = word == "#if 0" ? 1 : 0;
      if (depth == 0) out.append(line).append("\n");
    } else if (word.starts_with("#if")) {
      ++depth;
    } else if (word.starts_with("#endif") || (depth == 1 && word.starts_with("#el"))) {
      --depth;
    }
  }
  return out;
}

/// Blanks between two names stay as one, all others go.
std::string squeezed(const std::string& text) {
  std::string out;
  bool blank = true;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      blank = true;
      continue;
    }
    if (blank && !out.empty() && is_name(out.back()) && is_name(c)) out += ' ';
    out += c;
    blank = false;
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

Finding judge(const GuardRule& rule, const std::string& path, const std::string& code) {
  const std::string text = squeezed(region_of(code, rule.region));
  for (const Requirement& requirement : rule.requirements) {
    const int found = count_of(text, requirement.pattern);
    if (found >= requirement.at_least) continue;
    return {rule.id, Guard::kFail, path,
            fmt::format("{}: found {}, must be {} or more", requirement.what, found, requirement.at_least)};
  }
  return {rule.id, Guard::kPass, path, "every guard stands there"};
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// The copies of a rule's file without comments, those of the newest name that is there. Of several files of one name
/// only those count that have the functions of the rule.
Sources copies_of(const GuardRule& rule, const Sources& sources) {
  for (const std::string& name : rule.files) {
    Sources all, with_region;
    for (const auto& [path, bytes] : sources) {
      if (!is_of(rule, path) || file_name(path) != name) continue;
      const std::string code = is_python(path) ? python_code(bytes) : cpp_code(bytes);
      if (!region_of(code, rule.region).empty()) with_region.emplace(path, code);
      all.emplace(path, code);
    }
    if (!all.empty()) return with_region.empty() ? all : with_region;
  }
  return {};
}

Finding look_for(const GuardRule& rule, const Sources& sources) {
  const Sources copies = copies_of(rule, sources);
  if (copies.empty()) {
    const std::string where = rule.folder.empty() ? "" : fmt::format(" below a folder *{}*", rule.folder);
    return {rule.id, Guard::kUnknown, "", fmt::format("no file is called {}{}", join(rule.files, " or "), where)};
  }
  std::vector<Finding> findings;
  findings.reserve(copies.size());
  for (const auto& [path, code] : copies) findings.push_back(judge(rule, path, code));
  const auto failed =
      std::find_if(findings.begin(), findings.end(), [](const Finding& f) { return f.guard == Guard::kFail; });
  Finding finding = failed == findings.end() ? findings.front() : *failed;
  if (copies.size() > 1) finding.why += fmt::format(" ({} copies)", copies.size());
  return finding;
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

bool is_of(const GuardRule& rule, const std::string& path) {
  if (std::find(rule.files.begin(), rule.files.end(), file_name(path)) == rule.files.end()) return false;
  return rule.folder.empty() || path.substr(0, path.rfind('/') + 1).find(rule.folder) != std::string::npos;
}

std::vector<Finding> audit(const Sources& sources) {
  std::vector<Finding> findings;
  findings.reserve(guard_rules().size());
  for (const GuardRule& rule : guard_rules()) findings.push_back(look_for(rule, sources));
  return findings;
}

Status audit_self_test() {
  const auto samples = guard_samples();
  for (std::size_t broken = 0; broken <= samples.size(); ++broken) {  // the last round breaks nothing
    Sources sources;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      sources[samples[i].file] += i == broken ? samples[i].broken : samples[i].good;
    }
    for (const Finding& finding : audit(sources)) {
      const bool must_fail = broken < samples.size() && finding.rule == samples[broken].rule;
      if ((finding.guard == Guard::kFail) == must_fail && finding.guard != Guard::kUnknown) continue;
      return fail(Errc::kInternal,
                  fmt::format("self-test: {} is {}: {}", finding.rule, to_string(finding.guard), finding.why));
    }
  }
  return {};
}

}  // namespace bk::overlay
