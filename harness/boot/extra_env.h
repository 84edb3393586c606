#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "boot/profile.h"

namespace bk::boot {

/// EXTRA_ENV: NAME=VALUE entries separated by blanks. `declared_by` gives the profile's row that declares a name.
/// kUsage for an entry that is none, a name that the profile declares or that comes twice, and values with control
/// characters; no value is in a message, since one may be a key. Pure.
[[nodiscard]] Result<Environment> parse_extra_env(
    std::string_view text, const std::string& where,
    const std::function<std::optional<std::string>(const std::string&)>& declared_by);

/// A name that a variable of a process can have.
[[nodiscard]] bool is_variable_name(std::string_view name);

}  // namespace bk::boot
