#pragma once
#include "cli/run_main.h"

namespace bk::check_quality {

/// The whole program: flags in, the quality leg run, one row a context out.
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::check_quality
