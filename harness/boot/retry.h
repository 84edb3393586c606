#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace bk::boot {

/// Why a failed boot deserves one more try: its ranks fell out of step while weights loaded from a slow store, which a
/// second boot finds in the page cache. Told by the engine's own words in its log, for an engine that died or did not
/// get ready in time; nothing for every other failure, which a second boot would only repeat. Gives the line.
[[nodiscard]] std::optional<std::string> retry_reason(const Error& error, std::string_view log);

}  // namespace bk::boot
