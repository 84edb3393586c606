#pragma once
#include <filesystem>

#include "boot/profile.h"

namespace bk::supervisor {

/// Ok when every node of the profile answers and, where engines run in containers, its container service does too. The
/// error names the first that does not. Nothing is asked of a profile that runs plain processes here.
[[nodiscard]] Status look_at_fleet(const boot::Profile& profile, const std::filesystem::path& root_dir);

}  // namespace bk::supervisor
