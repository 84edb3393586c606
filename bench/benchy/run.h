#pragma once
#include "cli/run_main.h"

namespace bk::benchy {

/// The whole program: flags in, the grid of rows measured, llama-benchy's columns and the correct ones beside them out.
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::benchy
