#pragma once
#include <cstddef>

#include "base/result.h"

namespace bk::http {

/// Raises this process's soft limit of open files, as far as the hard limit lets it, so that `connections` more fit.
/// kEnvironment naming both numbers when it does not.
[[nodiscard]] Status allow_open_files(std::size_t connections);

}  // namespace bk::http
