#include "manifest/path.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace bk::manifest {
namespace {

constexpr std::size_t kLongestSegment = 255;
constexpr std::size_t kLongestPath = 1024;
constexpr std::size_t kLongestModule = 64;

bool is_word(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool is_file_char(char c) { return is_word(c) || c == '.'; }

/// A character that the set does not hold, as text.
template <class Allowed>
std::optional<std::string> odd_character(std::string_view text, Allowed allowed) {
  const auto odd = std::find_if_not(text.begin(), text.end(), allowed);
  if (odd == text.end()) return {};
  return fmt::format("the character '{}'", printable(std::string_view(&*odd, 1)));
}

}  // namespace

std::optional<std::string> path_fault(std::string_view path) {
  if (path.empty()) return "it is empty";
  if (path.size() > kLongestPath) return fmt::format("it is longer than {} bytes", kLongestPath);
  if (path.front() == '/') return "it is absolute";
  for (const std::string_view segment : split(path, '/')) {
    if (segment.empty()) return "it has an empty segment (a doubled or trailing slash)";
    if (segment == "..") return "it has the segment '..', which leaves the package";
    if (segment == ".") return "it has the segment '.': write the path without it";
    if (segment.size() > kLongestSegment) return fmt::format("a segment is longer than {} bytes", kLongestSegment);
    if (const auto odd = odd_character(segment, is_file_char)) return "it has " + *odd;
  }
  return {};
}

std::optional<std::string> source_fault(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name.find('/') != std::string_view::npos) return "it is a path: a source is a bare file name beside the manifest";
  if (name.size() > kLongestSegment) return fmt::format("it is longer than {} bytes", kLongestSegment);
  if (const auto odd = odd_character(name, is_file_char)) return "it has " + *odd;
  if (name.front() == '.') return "it starts with a dot";
  const std::string lower = to_lower(name);
  if (lower == "manifest.tsv" || lower == "requires" || lower == "sha256sums") return "the name is reserved";
  return {};
}

std::optional<std::string> module_name_fault(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name.size() > kLongestModule) return fmt::format("it is longer than {} bytes", kLongestModule);
  if (const auto odd = odd_character(name, is_word)) return "it has " + *odd;
  if (name.front() == '-') return "it starts with '-'";
  return {};
}

std::optional<std::string> root_fault(std::string_view root) {
  if (root.empty()) return {};
  if (root.front() != '/') return "it is not absolute";
  return path_fault(root.substr(1));
}

Result<std::string> below_root(std::string_view target, std::string_view root) {
  std::string_view rest = target;
  if (!target.empty() && target.front() == '/') {
    const bool below = !root.empty() && target.size() > root.size() && target.substr(0, root.size()) == root &&
                       target[root.size()] == '/';
    if (!below) {
      return fail(Errc::kUsage, fmt::format("target '{}' is not below the package root {}", printable(target),
                                            root.empty() ? "(none is set)" : printable(root)));
    }
    rest.remove_prefix(root.size() + 1);
  }
  if (const auto fault = path_fault(rest)) {
    return fail(Errc::kUsage, fmt::format("target '{}': {}", printable(target), *fault));
  }
  return std::string(rest);
}

std::string printable(std::string_view bytes) {
  constexpr std::size_t kLongest = 120;
  std::string text;
  for (const char c : bytes.substr(0, kLongest)) {
    if (c >= ' ' && c <= '~') {
      text += c;
    } else if (c == '\t') {
      text += "\\t";
    } else if (c == '\r') {
      text += "\\r";
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return bytes.size() > kLongest ? text + "…" : text;
}

}  // namespace bk::manifest
