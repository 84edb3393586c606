#pragma once
#include "cli/run_main.h"

namespace bk::profile_step {

/// The whole program: has a server trace one request, and says where the step's time goes.
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::profile_step
