#pragma once
#include "cli/run_main.h"

namespace bk::supervisor {

/// The whole program: a profile in; an engine that is kept serving, and a line for everything that happens, out.
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::supervisor
