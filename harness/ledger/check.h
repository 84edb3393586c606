#pragma once
#include <string_view>

#include "base/result.h"

namespace bk::ledger {

/// kMismatch with the number and both texts of the first differing line when the file is not the rendering.
[[nodiscard]] Status check_rendering(std::string_view file, std::string_view rendering, const std::string& path);

}  // namespace bk::ledger
