#pragma once
#include "cli/run_main.h"

namespace bk::fleet_audit {

/// The whole program: nodes in; what of them differs from what a serving fleet needs, out. It writes nothing anywhere.
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::fleet_audit
