#pragma once
#include "cli/run_main.h"

namespace bk::ledger_tool {

/// The whole program.
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::ledger_tool
