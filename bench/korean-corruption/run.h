#pragma once
#include "cli/run_main.h"

namespace bk::korean_corruption {

/// The whole program: flags in, the Korean leg run, one row a mark out.
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::korean_corruption
