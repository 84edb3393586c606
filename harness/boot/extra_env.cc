#include "boot/extra_env.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "base/text.h"

namespace bk::boot {
namespace {

Status check_value(const std::string& name, const std::string& value, const std::string& where) {
  if (std::any_of(value.begin(), value.end(), [](unsigned char c) { return c < ' '; })) {
    return fail(Errc::kUsage, fmt::format("the value of {} in EXTRA_ENV holds a control character", name), where);
  }
  static const std::regex kNextEntry(",[A-Za-z_][A-Za-z0-9_]*=");
  if (value.size() < 4096 && std::regex_search(value, kNextEntry)) {
    return fail(Errc::kUsage,
                fmt::format("the value of {} in EXTRA_ENV holds KEY= behind a comma: separate entries by blanks, not "
                            "commas",
                            name),
                where);
  }
  return {};
}

}  // namespace

bool is_variable_name(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

Result<Environment> parse_extra_env(std::string_view text, const std::string& where,
                                    const std::function<std::optional<std::string>(const std::string&)>& declared_by) {
  Environment found;
  int number = 0;
  for (const std::string_view piece : split(text, ' ')) {
    if (piece.empty()) continue;
    ++number;
    const std::size_t equals = piece.find('=');
    const std::string name(piece.substr(0, equals));
    if (equals == std::string_view::npos || !is_variable_name(name)) {
      return fail(Errc::kUsage,
                  fmt::format("entry {} of EXTRA_ENV is no KEY=VALUE; entries are separated by blanks", number), where);
    }
    const std::string value(piece.substr(equals + 1));
    BK_TRY(check_value(name, value, where));
    if (const auto owner = declared_by(name)) {
      return fail(
          Errc::kUsage,
          fmt::format(
              "EXTRA_ENV names {}, which the profile declares ({}): set it as {}=… in the environment or as a knob",
              name, *owner, name),
          where);
    }
    if (!found.emplace(name, value).second) {
      return fail(Errc::kUsage, fmt::format("EXTRA_ENV names {} twice", name), where);
    }
  }
  return found;
}

}  // namespace bk::boot
