#pragma once
#include "cli/run_main.h"

namespace bk::b12x {

/// The whole program: a models folder in; which TP and EP sizes can serve each model, out.
[[nodiscard]] Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args);

}  // namespace bk::b12x
