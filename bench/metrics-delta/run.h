#pragma once
#include "cli/run_main.h"

namespace bk::metrics_delta {

/// The whole program: two metrics pages in, what was counted between them out.
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::metrics_delta
