#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bk::boot {

/// Words of a command template: blanks separate, single and double quotes hold together. kUsage for an open quote.
[[nodiscard]] Result<std::vector<std::string>> split_words(std::string_view text);

/// Names in braces, {LIKE_THIS}; other braces are text.
[[nodiscard]] std::vector<std::string> placeholders(std::string_view text);

/// Ok for a path of profile setting `key` that is absolute or starts with {ROOT}/, and holds no other placeholder.
[[nodiscard]] Status check_rooted(const std::string& key, const std::string& path);

/// `text` with every placeholder replaced. A name for which `lookup` gives nothing is kUsage.
[[nodiscard]] Result<std::string> fill(std::string_view text,
                                       const std::function<std::optional<std::string>(const std::string&)>& lookup);

}  // namespace bk::boot
