#include "boot/words.h"

#include <fmt/format.h>

namespace bk::boot {
namespace {

/// The length of the placeholder at the start of `text`, braces included; 0 when there is none.
std::size_t placeholder_length(std::string_view text) {
  if (text.size() < 3 || text[0] != '{' || text[1] < 'A' || text[1] > 'Z') return 0;
  for (std::size_t i = 2; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '}') return i + 1;
    if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) return 0;
  }
  return 0;
}

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool open = false;
  char quote = '\0';
  for (const char c : text) {
    if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        words.back() += c;
      }
      continue;
    }
    if (c == ' ' || c == '\t') {
      open = false;
      continue;
    }
    if (!open) words.emplace_back();
    open = true;
    if (c == '\'' || c == '"') {
      quote = c;
    } else {
      words.back() += c;
    }
  }
  if (quote != '\0')
    return fail(Errc::kUsage, fmt::format("a {} quote is not closed", quote == '"' ? "double" : "single"));
  return words;
}

std::vector<std::string> placeholders(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (const std::size_t length = placeholder_length(text.substr(at)); length > 0) {
      names.emplace_back(text.substr(at + 1, length - 2));
      at += length - 1;
    }
  }
  return names;
}

Status check_rooted(const std::string& key, const std::string& path) {
  for (const std::string& name : placeholders(path)) {
    if (name != "ROOT") return fail(Errc::kUsage, fmt::format("{} may hold {{ROOT}}, not {{{}}}", key, name));
  }
  if (!path.starts_with('/') && !path.starts_with("{ROOT}/")) {
    return fail(Errc::kUsage, key + " is an absolute path, or starts with {ROOT}/");
  }
  return {};
}

Result<std::string> fill(std::string_view text,
                         const std::function<std::optional<std::string>(const std::string&)>& lookup) {
  std::string filled;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = placeholder_length(text.substr(at));
    if (length == 0) {
      filled += text[at++];
      continue;
    }
    const std::string name(text.substr(at + 1, length - 2));
    const auto value = lookup(name);
    if (!value) return fail(Errc::kUsage, fmt::format("{{{}}} has no value", name));
    filled += *value;
    at += length;
  }
  return filled;
}

}  // namespace bk::boot
