#pragma once
#include "cli/run_main.h"

namespace bk::bracket_tool {

/// The whole program: `bracket run|matrix|sweep|resume|show|list|judge|verdict` and more.
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::bracket_tool
