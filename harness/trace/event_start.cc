#include "trace/event_start.h"

#include <algorithm>
#include <array>

namespace bk::trace {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

bool event_seems_to_start(std::string_view bytes, std::size_t at) {
  constexpr std::array<std::string_view, 7> kFirstKeys = {"\"ph\"",  "\"name\"", "\"cat\"", "\"pid\"",
                                                          "\"tid\"", "\"ts\"",   "\"args\""};
  std::size_t before = at, after = at + 1;
  while (before > 0 && is_blank(bytes[before - 1])) --before;
  while (after < bytes.size() && is_blank(bytes[after])) ++after;
  if (before == 0 || bytes[before - 1] != ',') return false;
  const std::string_view rest = bytes.substr(after);
  return std::any_of(kFirstKeys.begin(), kFirstKeys.end(), [&](std::string_view key) { return rest.starts_with(key); });
}

std::size_t first_event_start(std::string_view bytes, std::size_t from) {
  for (std::size_t at = bytes.find('{', from); at < bytes.size(); at = bytes.find('{', at + 1)) {
    if (event_seems_to_start(bytes, at)) return at;
  }
  return bytes.size();
}

std::size_t last_event_start(std::string_view bytes) {
  for (std::size_t size = bytes.size(); size > 0;) {
    const std::size_t at = bytes.substr(0, size).rfind('{');
    if (at == std::string_view::npos) return 0;
    if (event_seems_to_start(bytes, at)) return at;
    size = at;
  }
  return 0;
}

}  // namespace bk::trace
