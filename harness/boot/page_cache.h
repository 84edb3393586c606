#pragma once
#include <string>

#include "base/result.h"

namespace bk::boot {

/// Writes dirty pages back and drops this machine's page cache, so that every boot starts with the same free memory.
/// kEnvironment with the system's reason where that is not allowed; nothing depends on it.
[[nodiscard]] Status drop_page_cache();

}  // namespace bk::boot
