#pragma once
#include "cli/run_main.h"

namespace bk::profile_tool {

/// The whole program: `check`, `show` and `list` of profiles.
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::profile_tool
