#pragma once
#include <string>
#include <vector>

#include "cli/common_flags.h"

namespace bk::cli {

/// --format and --json with these forms alone, for output that is one document; Common::kFormat offers those of rows.
/// After parse(), flags.format is one of them.
void add_format(App& app, CommonFlags& flags, std::vector<std::string> formats);

}  // namespace bk::cli
